{{/*
What values.schema.json cannot say: values that need or exclude one another. All faults are told at once, each with what
to do.
*/}}
{{- define "analyze-retry.check" -}}
{{- $v := .Values -}}
{{- $faults := list -}}
{{- $sqlite := eq $v.store.type "sqlite" -}}
{{- $keys := include "analyze-retry.secretKeys" . -}}
{{- $monitored := or $v.metrics.podMonitor.enabled $v.metrics.serviceMonitor.enabled -}}

{{- if and $keys (not $v.existingSecret) -}}
{{- $faults = append $faults (printf "existingSecret is empty: make a Secret with the keys %s and name it here, such as\n    openssl genpkey -algorithm ed25519 -out audit.key\n    kubectl create secret generic analyze-retry --namespace %s%s\n  (or try it out with store.type=sqlite and replicas=1, which needs http-token only)" (replace "," ", " $keys) .Release.Namespace (include "analyze-retry.secretFlags" .)) -}}
{{- end -}}
{{- if not (or $v.http.token $v.http.tls.existingSecret) -}}
{{- $faults = append $faults "http.token is false and http.tls.existingSecret is empty: the worker refuses to serve off loopback without token and TLS; set one of the two" -}}
{{- end -}}

{{- if $sqlite -}}
{{- if gt (int $v.replicas) 1 -}}
{{- $faults = append $faults (printf "replicas is %d with store.type=sqlite, a file of one worker: set replicas=1, or store.type=postgres" (int $v.replicas)) -}}
{{- end -}}
{{- if $v.migrate.existingSecret -}}
{{- $faults = append $faults "migrate.existingSecret with store.type=sqlite: the worker makes its file by itself; leave it empty" -}}
{{- end -}}
{{- if $v.report.enabled -}}
{{- $faults = append $faults (printf "report.enabled with store.type=sqlite: only the worker's pod has the file's volume; let a schedule of your own run `kubectl --namespace %s exec deploy/%s -- /worker report`, or set store.type=postgres" .Release.Namespace (include "analyze-retry.fullname" .)) -}}
{{- end -}}
{{- else if $v.store.sqlite.existingClaim -}}
{{- $faults = append $faults "store.sqlite.existingClaim has no effect with store.type=postgres: leave it empty, or set store.type=sqlite" -}}
{{- end -}}

{{- /* The form only. Rules and numbers are the worker's to check: worker policies lint. */ -}}
{{- with $v.worker.policies -}}
{{- $file := fromYaml . -}}
{{- $first := dict -}}
{{- if kindIs "slice" $file.policies }}{{ $first = $file.policies | first }}{{ end -}}
{{- if $file.Error -}}
{{- $faults = append $faults (printf "worker.policies is not the text of a YAML file (%s): give the file by --set-file worker.policies=policies.yaml, and check it by `worker policies lint policies.yaml`" $file.Error) -}}
{{- else if not (and (kindIs "map" $first) $first) -}}
{{- $faults = append $faults "worker.policies holds no policies: the text begins with `policies:` and a list of them; check it by `worker policies lint policies.yaml`" -}}
{{- end -}}
{{- end -}}

{{- with $v.zeebe -}}
{{- $plaintext := regexMatch "^(grpc|http)://" .address -}}
{{- if and $plaintext (or .caSecret .clientCertificateSecret) -}}
{{- $faults = append $faults (printf "zeebe.address %s is plaintext, which has no use for certificates: leave zeebe.caSecret and zeebe.clientCertificateSecret empty, or begin it with grpcs:// or https://" .address) -}}
{{- end -}}
{{- $o := .oauth -}}
{{- if or $o.clientId $o.authorizationServerUrl $o.audience $o.scope -}}
{{- range $name := list "clientId" "authorizationServerUrl" "audience" -}}
{{- if not (get $o $name) -}}
{{- $faults = append $faults (printf "zeebe.oauth.%s is empty: OAuth needs clientId, authorizationServerUrl and audience" $name) -}}
{{- end -}}
{{- end -}}
{{- if .basic.username -}}
{{- $faults = append $faults "zeebe.basic and zeebe.oauth are both set: a cluster takes one of them; remove the other" -}}
{{- end -}}
{{- if and (hasPrefix "http://" $o.authorizationServerUrl) (not .allowInsecureToken) -}}
{{- $faults = append $faults "zeebe.oauth.authorizationServerUrl is http and would send the client secret in plaintext: use https, or set zeebe.allowInsecureToken=true" -}}
{{- end -}}
{{- end -}}
{{- if and $plaintext (or .basic.username $o.clientId) (not .allowInsecureToken) -}}
{{- $faults = append $faults (printf "zeebe.address %s would send the %s in plaintext: begin it with grpcs:// or https://, or set zeebe.allowInsecureToken=true" .address (ternary "password" "token" (ne .basic.username ""))) -}}
{{- end -}}
{{- end -}}

{{- if and $v.metrics.podMonitor.enabled $v.metrics.serviceMonitor.enabled -}}
{{- $faults = append $faults "metrics.podMonitor.enabled and metrics.serviceMonitor.enabled: every worker would be scraped twice; choose one" -}}
{{- end -}}
{{- if and $monitored $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) -}}
{{- $faults = append $faults "networkPolicy.metricsFrom is empty, so Prometheus cannot scrape: name it, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}], or set networkPolicy.enabled=false" -}}
{{- end -}}
{{- if and $monitored $v.http.tls.existingSecret (not $v.http.tls.serverName) -}}
{{- $faults = append $faults "http.tls.serverName is empty: Prometheus calls pods by their addresses, which stand in no certificate; name what the certificate is for" -}}
{{- end -}}

{{- $ours := list -}}
{{- range include "analyze-retry.env" . | fromYamlArray }}{{ $ours = append $ours .name }}{{ end -}}
{{- range $v.extraEnv -}}
{{- if has .name (list "RETRY_DATABASE_URL" "RETRY_EVENTS_URL" "RETRY_HTTP_TOKEN" "ZEEBE_CLIENT_SECRET" "CAMUNDA_CLIENT_SECRET" "CAMUNDA_CLIENT_AUTH_CLIENT_SECRET" "CAMUNDA_CLIENT_AUTH_CLIENTSECRET" "CAMUNDA_BASIC_AUTH_PASSWORD" "CAMUNDA_CLIENT_AUTH_PASSWORD") -}}
{{- $faults = append $faults (printf "extraEnv: %s is secret: put it into existingSecret" .name) -}}
{{- else if has .name $ours -}}
{{- $faults = append $faults (printf "extraEnv: %s is set by the chart: use its value" .name) -}}
{{- end -}}
{{- end -}}

{{- range $name := keys (include "analyze-retry.labels" . | fromYaml) | sortAlpha -}}
{{- if hasKey $v.podLabels $name -}}
{{- $faults = append $faults (printf "podLabels: %s is set by the chart: leave it out" $name) -}}
{{- end -}}
{{- end -}}

{{- with $faults -}}
{{- fail (printf "\n- %s\n" (join "\n- " .)) -}}
{{- end -}}
{{- end }}

{{/* How the keys of existingSecret are given to kubectl. */}}
{{- define "analyze-retry.secretFlags" -}}
{{- range splitList "," (include "analyze-retry.secretKeys" .) }} --from-file={{ . }}{{ end -}}
{{- end }}
