{{/* What every pod of the chart may do: nothing. 65532 is the image's user; fsGroup lets it read the mounted secrets. */}}
{{- define "analyze-retry.podSecurity" -}}
automountServiceAccountToken: false
# A Service that is called "retry-..." would bring along RETRY_ variables, which the worker refuses.
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "analyze-retry.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/*
How long Kubernetes waits for a stop before it kills, in seconds: the active jobs (the shutdown timeout), the second in
which what is left goes back to the broker, and what is closed then, which is given up after 10 seconds (internal/app/run.go).
A stop in which nothing hangs takes none of it.
*/}}
{{- define "analyze-retry.gracePeriod" -}}
{{ add (int .Values.worker.shutdownTimeoutSeconds) 1 12 }}
{{- end }}

{{/* Four fifths of the memory limit for the Go runtime: SQLite keeps memory that Go does not count. */}}
{{- define "analyze-retry.goMemoryLimit" -}}
{{- with dig "limits" "memory" "" .Values.resources -}}
{{- $mebibytes := regexFind "^[0-9]+" . | int -}}
{{- if hasSuffix "Gi" . }}{{ $mebibytes = mul $mebibytes 1024 }}{{ end -}}
{{ div (mul $mebibytes 80) 100 }}MiB
{{- end -}}
{{- end }}

{{/* The keys of existingSecret that are mounted; a key that is missing keeps the pod from starting, with its name. */}}
{{- define "analyze-retry.secretKeys" -}}
{{- $keys := list -}}
{{- if eq .Values.store.type "postgres" }}{{ $keys = list "database-url" "audit.key" }}{{ end -}}
{{- if .Values.events.enabled }}{{ $keys = append $keys "events-url" }}{{ end -}}
{{- $keys = append $keys "http-token" -}}
{{- if .Values.zeebe.basic.username }}{{ $keys = append $keys "zeebe-basic-password" }}{{ end -}}
{{- if .Values.zeebe.oauth.clientId }}{{ $keys = append $keys "zeebe-client-secret" }}{{ end -}}
{{ join "," $keys }}
{{- end }}

{{- define "analyze-retry.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.existingSecret }}
    defaultMode: 0440
    items:
      {{- range splitList "," (include "analyze-retry.secretKeys" .) }}
      - {key: {{ . }}, path: {{ . }}}
      {{- end }}
{{- with .Values.zeebe.caSecret }}
- name: zeebe-ca
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items:
      - {key: ca.crt, path: ca.crt}
{{- end }}
{{- with .Values.zeebe.clientCertificateSecret }}
- name: zeebe-client
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items:
      - {key: tls.crt, path: tls.crt}
      - {key: tls.key, path: tls.key}
{{- end }}
{{- if .Values.worker.policies }}
- name: policies
  configMap:
    name: {{ include "analyze-retry.fullname" . }}-policies
{{- end }}
{{- if eq .Values.store.type "sqlite" }}
- name: data
  persistentVolumeClaim:
    claimName: {{ default (printf "%s-data" (include "analyze-retry.fullname" .)) .Values.store.sqlite.existingClaim }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "analyze-retry.volumeMounts" -}}
- {name: secrets, mountPath: /etc/analyze-retry/secrets, readOnly: true}
{{- if .Values.zeebe.caSecret }}
- {name: zeebe-ca, mountPath: /etc/analyze-retry/zeebe-ca, readOnly: true}
{{- end }}
{{- if .Values.zeebe.clientCertificateSecret }}
- {name: zeebe-client, mountPath: /etc/analyze-retry/zeebe-client, readOnly: true}
{{- end }}
{{- if .Values.worker.policies }}
- {name: policies, mountPath: /etc/analyze-retry/policies, readOnly: true}
{{- end }}
{{- if eq .Values.store.type "sqlite" }}
- {name: data, mountPath: /data}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
