{{/* An egress rule: to the peers, or to any where there are none, on the ports. Arguments: list of peers, list of ports. */}}
{{- define "analyze-retry.egress" -}}
{{- $peers := index . 0 -}}
- ports:
    {{- range index . 1 }}
    - {protocol: TCP, port: {{ int . }}}
    {{- end }}
  {{- with $peers }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The pods of the cluster's DNS listen on 53, or on 5353 (OpenShift). */}}
{{- define "analyze-retry.dnsEgress" -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
    - {protocol: UDP, port: 5353}
    - {protocol: TCP, port: 5353}
{{- end }}

{{/* The port of a URL. */}}
{{- define "analyze-retry.urlPort" -}}
{{- $url := urlParse . -}}
{{- default (ternary "443" "80" (eq $url.scheme "https")) (regexFind ":[0-9]+$" $url.host | trimPrefix ":") -}}
{{- end }}
