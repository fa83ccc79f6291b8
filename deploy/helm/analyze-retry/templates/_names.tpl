{{/* The name of the release's objects: with the chart's name in it, but not twice. Jobs and claims append to it. */}}
{{- define "analyze-retry.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* What the workers are known by. It never changes: a Deployment's selector cannot. */}}
{{- define "analyze-retry.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end }}

{{- define "analyze-retry.reportSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: report
{{- end }}

{{/* Kubernetes takes 52 characters for the name of a CronJob, which ends in -day, -week or -month. */}}
{{- define "analyze-retry.reportName" -}}
{{ include "analyze-retry.fullname" . | trunc 39 | trimSuffix "-" }}-report
{{- end }}

{{/* Labels of every object beside its selector's. */}}
{{- define "analyze-retry.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: analyze-retry
{{- end }}

{{- define "analyze-retry.labels" -}}
{{ include "analyze-retry.selector" . }}
{{ include "analyze-retry.commonLabels" . }}
{{- end }}

{{- define "analyze-retry.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ .registry }}/{{ end }}{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end }}
