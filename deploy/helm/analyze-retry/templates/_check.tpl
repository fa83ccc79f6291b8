{{/*
What neither values.schema.json nor the worker at its start can refuse with what to do about it. All faults are named at once.
*/}}
{{- define "analyze-retry.check" -}}
{{- $v := .Values -}}
{{- $faults := list -}}
{{- $keys := include "analyze-retry.secretKeys" . -}}

{{- if not $v.existingSecret -}}
{{- if $v.report.enabled }}{{ $keys = printf "%s,audit.pub" $keys }}{{ end -}}
{{- $flags := printf " --from-file=%s" (replace "," " --from-file=" $keys) -}}
{{- $faults = append $faults (printf "existingSecret is empty: make a Secret with the keys %s and name it here, such as\n    openssl genpkey -algorithm ed25519 -out audit.key\n    kubectl create secret generic analyze-retry --namespace %s%s\n  (or try it out with store.type=sqlite and replicas=1, which needs http-token only)" (replace "," ", " $keys) .Release.Namespace $flags) -}}
{{- end -}}

{{- if eq $v.store.type "sqlite" -}}
{{- if gt (int $v.replicas) 1 -}}
{{- $faults = append $faults (printf "replicas is %d with store.type=sqlite, a file of one worker: set replicas=1, or store.type=postgres" (int $v.replicas)) -}}
{{- end -}}
{{- if $v.report.enabled -}}
{{- $faults = append $faults (printf "report.enabled with store.type=sqlite: only the worker's pod has the file's volume; let a schedule of your own run `kubectl --namespace %s exec deploy/%s -- /worker report`, or set store.type=postgres" .Release.Namespace (include "analyze-retry.fullname" .)) -}}
{{- end -}}
{{- end -}}

{{- /* The form only: a path is given easily in place of the text. The rest is the worker's to check. */ -}}
{{- with $v.worker.policies -}}
{{- $file := fromYaml . -}}
{{- if or $file.Error (not (kindIs "slice" $file.policies)) -}}
{{- $faults = append $faults "worker.policies is not the text of a YAML file with a list `policies:`: give the file by --set-file worker.policies=policies.yaml, and check it by `worker policies lint policies.yaml`" -}}
{{- end -}}
{{- end -}}

{{- if and $v.metrics.prometheusRule.enabled (not $v.metrics.prometheusRule.repositoryUrl) -}}
{{- $faults = append $faults "metrics.prometheusRule.repositoryUrl is empty, so that no alert would lead to its runbook: name where this repository is read, such as https://git.example.org/analyze-retry/blob/main/" -}}
{{- end -}}

{{- if $v.metrics.serviceMonitor.enabled -}}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) -}}
{{- $faults = append $faults "networkPolicy.metricsFrom is empty, so Prometheus cannot scrape: name it, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}], or set networkPolicy.enabled=false" -}}
{{- end -}}
{{- end -}}

{{- range $v.extraEnv -}}
{{- if has .name (list "RETRY_DATABASE_URL" "RETRY_EVENTS_URL" "RETRY_HTTP_TOKEN" "ZEEBE_CLIENT_SECRET" "CAMUNDA_BASIC_AUTH_PASSWORD") -}}
{{- $faults = append $faults (printf "extraEnv: %s is secret: put it into existingSecret" .name) -}}
{{- end -}}
{{- end -}}

{{- with $faults -}}
{{- fail (printf "\n- %s\n" (join "\n- " .)) -}}
{{- end -}}
{{- end }}
