{{/* Arguments of the runners controller, as a list in YAML. Credentials for GitHub are in Secrets of the pools. */}}
{{- define "tartan.runners.args" -}}
- --namespace={{ .Release.Namespace }}
- --log-level={{ .Values.runnersController.logLevel }}
- --stuck-after-seconds={{ int64 .Values.runnersController.stuckAfterSeconds }}
{{- with .Values.runnersController.githubApiUrl }}
- --github-api-url={{ . }}
{{- end }}
{{- end }}

{{- define "tartan.runners.env" -}}
{{ include "tartan.program.env" . }}
{{- with .Values.runnersController.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
