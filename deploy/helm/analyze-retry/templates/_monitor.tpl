{{/* The endpoint of a PodMonitor or ServiceMonitor. Arguments: the root, the monitor's values. */}}
{{- define "analyze-retry.endpoint" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
- port: http
  path: /metrics
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  {{- if $root.Values.http.tls.existingSecret }}
  scheme: https
  tlsConfig:
    serverName: {{ $root.Values.http.tls.serverName }}
    ca:
      secret: {name: {{ $root.Values.http.tls.existingSecret }}, key: ca.crt}
  {{- end }}
  {{- if $root.Values.http.token }}
  authorization:
    type: Bearer
    credentials: {name: {{ $root.Values.existingSecret }}, key: http-token}
  {{- end }}
  relabelings:
    # What the rules and the dashboard know the worker by.
    - {targetLabel: job, replacement: analyze-retry}
    {{- with $root.Values.metrics.relabelings }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
