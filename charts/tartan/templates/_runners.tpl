{{/* What the runners controller is told, as a list in YAML. What it shows to GitHub is in Secrets of the pools. */}}
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
