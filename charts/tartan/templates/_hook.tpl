{{/* The Pod of a Job that runs a small program of the image, once: root, name of its account, container, file, args. */}}
{{- define "tartan.hook.pod" -}}
serviceAccountName: {{ .name | quote }}
restartPolicy: Never
securityContext:
  {{- include "tartan.pod.security" .root | nindent 2 }}
{{- with include "tartan.pod.placement" (dict "root" .root "values" .root.Values.provider) | trim }}
{{ . }}
{{- end }}
containers:
  - name: {{ .container }}
    image: {{ include "tartan.image" .root | quote }}
    imagePullPolicy: {{ .root.Values.provider.image.pullPolicy }}
    command: [/usr/local/bin/node, /opt/tartan/{{ .file }}]
    {{- with .args }}
    args:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    # The end of its log is also in the status of the Pod, for users who may not read logs.
    terminationMessagePolicy: FallbackToLogsOnError
    resources:
      requests: { cpu: 50m, memory: 96Mi }
      limits: { memory: 192Mi }
    securityContext:
      {{- include "tartan.container.security" .root | nindent 6 }}
{{- end }}
