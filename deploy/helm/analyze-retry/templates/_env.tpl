{{/* TYPE=POLICY,... as RETRY_JOB_TYPES wants it. */}}
{{- define "analyze-retry.jobTypes" -}}
{{- $texts := list -}}
{{- range .Values.worker.jobTypes }}{{ $texts = append $texts (printf "%s=%s" .type .policy) }}{{ end -}}
{{ join "," $texts }}
{{- end }}

{{/* The variables that the chart itself sets, as a YAML list. What is secret stands in files. */}}
{{- define "analyze-retry.env" -}}
- {name: RETRY_JOB_TYPES, value: {{ include "analyze-retry.jobTypes" . | quote }}}
- {name: RETRY_CLUSTER_NAME, value: {{ .Values.worker.clusterName | quote }}}
- {name: RETRY_MAX_JOBS_ACTIVE, value: {{ int .Values.worker.maxJobsActive | quote }}}
- {name: RETRY_JOB_TIMEOUT, value: {{ int .Values.worker.jobTimeoutSeconds }}s}
- {name: RETRY_SHUTDOWN_TIMEOUT, value: {{ int .Values.worker.shutdownTimeoutSeconds }}s}
- {name: RETRY_AUDIT_RETENTION_YEARS, value: {{ int .Values.worker.auditRetentionYears | quote }}}
- {name: RETRY_LOG_LEVEL, value: {{ .Values.worker.logLevel }}}
- {name: RETRY_LANG, value: {{ .Values.worker.language }}}
{{- if .Values.worker.policies }}
- {name: RETRY_POLICIES_FILE, value: /etc/analyze-retry/policies/policies.yaml}
{{- end }}
{{- if eq .Values.store.type "postgres" }}
# The image names a file of SQLite here. Empty counts as unset; both would be refused.
- {name: RETRY_DATABASE_URL, value: ""}
- {name: RETRY_DATABASE_URL_FILE, value: /etc/analyze-retry/secrets/database-url}
- {name: RETRY_AUDIT_KEY_FILE, value: /etc/analyze-retry/secrets/audit.key}
{{- else }}
- {name: RETRY_DATABASE_URL, value: "sqlite:///data/analyze-retry.db"}
# Where SQLite sorts large answers: the root file system is read-only.
- {name: SQLITE_TMPDIR, value: /data}
{{- end }}
{{- if .Values.events.enabled }}
- {name: RETRY_EVENTS_URL_FILE, value: /etc/analyze-retry/secrets/events-url}
{{- end }}
- {name: RETRY_HTTP_ADDRESS, value: ":{{ int .Values.http.port }}"}
- {name: RETRY_HTTP_TOKEN_FILE, value: /etc/analyze-retry/secrets/http-token}
{{- with .Values.zeebe }}
- {name: ZEEBE_ADDRESS, value: {{ .address | quote }}}
{{- if .caSecret }}
- {name: ZEEBE_CA_CERTIFICATE_PATH, value: /etc/analyze-retry/zeebe-ca/ca.crt}
{{- end }}
{{- if .clientCertificateSecret }}
- {name: ZEEBE_CLIENT_CERTIFICATE_PATH, value: /etc/analyze-retry/zeebe-client/tls.crt}
- {name: ZEEBE_CLIENT_KEY_PATH, value: /etc/analyze-retry/zeebe-client/tls.key}
{{- end }}
{{- with .basic.username }}
- {name: CAMUNDA_BASIC_AUTH_USERNAME, value: {{ . | quote }}}
- {name: CAMUNDA_BASIC_AUTH_PASSWORD_FILE, value: /etc/analyze-retry/secrets/zeebe-basic-password}
{{- end }}
{{- with .oauth }}
{{- if .clientId }}
- {name: ZEEBE_CLIENT_ID, value: {{ .clientId | quote }}}
- {name: ZEEBE_CLIENT_SECRET_FILE, value: /etc/analyze-retry/secrets/zeebe-client-secret}
- {name: ZEEBE_AUTHORIZATION_SERVER_URL, value: {{ .authorizationServerUrl | quote }}}
- {name: ZEEBE_TOKEN_AUDIENCE, value: {{ .audience | quote }}}
{{- if .scope }}
- {name: ZEEBE_TOKEN_SCOPE, value: {{ .scope | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- if .allowInsecureToken }}
- {name: RETRY_ALLOW_INSECURE_TOKEN, value: "true"}
{{- end }}
{{- with .tenant }}
- {name: RETRY_TENANT, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- with include "analyze-retry.goMemoryLimit" . }}
- {name: GOMEMLIMIT, value: {{ . }}}
{{- end }}
{{- end }}
