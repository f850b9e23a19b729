{{/* Zones of all enabled fleets, separated by commas. */}}
{{- define "tartan.zones" -}}
{{- $zones := list -}}
{{- range $word := include "tartan.fleets" . | fromJsonArray -}}
{{- $zones = append $zones (index $.Values (printf "%sFleet" $word)).machine.zone -}}
{{- end -}}
{{- $zones | uniq | sortAlpha | join "," -}}
{{- end }}

{{/* Pools of all enabled fleets, separated by commas. */}}
{{- define "tartan.pools" -}}
{{- $pools := list .Values.macosFleet.adoptPoolPrefix -}}
{{- range $word := include "tartan.fleets" . | fromJsonArray -}}
{{- $pools = append $pools (include "tartan.fleet.pool" (dict "root" $ "word" $word)) -}}
{{- end -}}
{{- $pools | uniq | sortAlpha | join "," -}}
{{- end }}

{{/* Arguments of the manager, as a list in YAML. They contain no secret: everyone who may read a Pod sees its arguments. */}}
{{- define "tartan.manager.args" -}}
- --secrets-namespace={{ .Release.Namespace }}
- --machine-namespaces={{ .Release.Namespace }}
- --log-level={{ .Values.provider.logLevel }}
- --scaleway-credentials-path=/etc/tartan/scaleway
{{- with .Values.apiServerURL }}
- --api-server-url={{ . }}
{{- end }}
{{- with .Values.provider.githubApiUrl }}
- --github-api-url={{ . }}
{{- end }}
- --default-adopt-pool-prefix={{ .Values.macosFleet.adoptPoolPrefix }}
- --adopt-pool-prefixes={{ include "tartan.pools" . }}
{{- with include "tartan.zones" . }}
- --orphan-reclaim-zones={{ . }}
{{- end }}
{{- if .Values.macosFleet.orphanReclaim.activeReclaim }}
- --orphan-reclaim-claim-name-prefix={{ include "tartan.claimPrefix" . }}
{{- end }}
{{- if .Values.buildersFleet.enabled }}
- --actions-runner-tarball-path=/opt/actions-runner/actions-runner.tar.gz
- --packer-binary-path=/opt/packer/packer
- --crane-binary-path=/opt/crane/crane
- --oras-binary-path=/opt/oras/oras
{{- end }}
{{- with .Values.tailscale }}
{{- if .enabled }}
- --tailscale-binaries-path=/opt/tailscale/tailscale.tar.gz
- --tailscale-auth-key-secret-name={{ .secretName }}
- --tailscale-tags={{ join "," .tags }}
- --tailscale-accept-routes={{ .acceptRoutes }}
{{- if .nodeExporter }}
- --node-exporter-binary-path=/opt/node_exporter/node_exporter
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.vmClusterEgress }}
{{- if .kuraServiceCIDR }}
- --vm-kura-egress-cidr={{ .kuraServiceCIDR }}
- --vm-cluster-dns-ip={{ .clusterDNSIP }}
{{- end }}
{{- end }}
{{- with .Values.fleetSpread }}
{{- if .deployment }}
- --fleet-spread-deployment={{ .deployment }}
- --fleet-spread-namespace={{ .namespace | default $.Release.Namespace }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tartan.manager.env" -}}
{{ include "tartan.program.env" . }}
{{- with .Values.provider.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Secrets of the manager by the folders where they are mounted. As files, so that a new key is used without a restart. */}}
{{- define "tartan.manager.secrets" -}}
- { name: scaleway, secretName: {{ .Values.scaleway.secretName | quote }}, path: /etc/tartan/scaleway }
{{- end }}

{{/*
A hash of all that defines the manager. The manager and every MacFleet get it: a fleet that a manager of another release reconciles is
not Ready, so `helm --wait` waits for the new manager, also if only its image changed.
*/}}
{{- define "tartan.releaseID" -}}
{{- list (include "tartan.image" .) (include "tartan.manager.args" .) (include "tartan.manager.env" .) (include "tartan.manager.secrets" .) .Values.provider.extraArgs | toJson | sha256sum | trunc 12 -}}
{{- end }}
