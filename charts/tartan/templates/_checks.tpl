{{/* Checks between values, which a schema cannot express. Each message says what, why, and what to do. */}}
{{- define "tartan.checks" -}}
{{- $claimed := include "tartan.claimPrefix" . -}}
{{- $active := .Values.macosFleet.orphanReclaim.activeReclaim -}}
{{- $pools := list .Values.macosFleet.adoptPoolPrefix -}}
{{- $names := dict -}}
{{- range $word := include "tartan.fleets" . | fromJsonArray -}}
{{- $key := printf "%sFleet" $word -}}
{{- $fleet := index $.Values $key -}}
{{- $name := include "tartan.fleet.name" (dict "root" $ "word" $word) -}}
{{- $pools = append $pools (include "tartan.fleet.pool" (dict "root" $ "word" $word)) -}}
{{- if gt (len $name) 51 -}}
{{- fail (printf "%s would be named %q, which is longer than 51 characters: machine names append twelve, and a label value holds 63. Set fullnameOverride or %s.name." $key $name $key) -}}
{{- end -}}
{{- with get $names $name -}}
{{- fail (printf "%s and %s are both named %q. Two fleets cannot have the same name. Set another %s.name." . $key $name $key) -}}
{{- end -}}
{{- $_ := set $names $name $key -}}
{{- if and $active (not (hasPrefix $claimed $name)) -}}
{{- fail (printf "macosFleet.orphanReclaim.activeReclaim reclaims servers whose names begin with %q, and %s.name %q does not: its stranded Macs would never be reclaimed. Rename the fleet, set fullnameOverride, or set activeReclaim to false." $claimed $key $name) -}}
{{- end -}}
{{- with $fleet.healthCheck -}}
{{- if and .enabled (gt (int64 .nodeStartupTimeoutSeconds) 0) (lt (int64 .nodeStartupTimeoutSeconds) 1800) -}}
{{- fail (printf "%s.healthCheck.nodeStartupTimeoutSeconds %d is shorter than half an hour. A reinstall with a bootstrap can take that long: machines would be replaced, and their Macs wiped, before they are Ready. Raise it, or set 0 for no limit." $key (int64 .nodeStartupTimeoutSeconds)) -}}
{{- end -}}
{{- if and .enabled (le (int64 .unhealthyTimeoutSeconds) (int64 $fleet.rollout.gateDeadlineSeconds)) -}}
{{- fail (printf "%s.healthCheck.unhealthyTimeoutSeconds %d is not above rollout.gateDeadlineSeconds %d: a Mac that is being updated would be replaced as broken, and wiped. Raise the first or lower the second." $key (int64 .unhealthyTimeoutSeconds) (int64 $fleet.rollout.gateDeadlineSeconds)) -}}
{{- end -}}
{{- end -}}
{{- $least := "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size" -}}
{{- $most := "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size" -}}
{{- if ne (hasKey $fleet.annotations $least) (hasKey $fleet.annotations $most) -}}
{{- fail (printf "%s.annotations has only one of %s and %s: Cluster API would set the number of machines to 1. Set both or none." $key $least $most) -}}
{{- end -}}
{{- with $fleet.machineRollout -}}
{{- if and (eq .type "RollingUpdate") (has (toString .maxSurge) (list "0" "0%")) (has (toString .maxUnavailable) (list "0" "0%")) -}}
{{- fail (printf "%s.machineRollout has maxSurge 0 and maxUnavailable 0: no machine could ever be replaced. Raise one of them, or set type OnDelete." $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $pool := uniq $pools -}}
{{- range $name, $key := $names -}}
{{- if hasPrefix $pool $name -}}
{{- fail (printf "%s is named %q, which begins with the pool prefix %q: claimed Macs would look free. Choose another name or another adoptPoolPrefix." $key $name $pool) -}}
{{- end -}}
{{- end -}}
{{- range $between := list "tuist-claim-pending-" "tuist-releasing-" -}}
{{- if or (hasPrefix $pool $between) (hasPrefix $between $pool) -}}
{{- fail (printf "adoptPoolPrefix %q overlaps %q, the reserved prefix of servers between pool and machine. Choose another prefix." $pool $between) -}}
{{- end -}}
{{- if and $active (or (hasPrefix $claimed $between) (hasPrefix $between $claimed)) -}}
{{- fail (printf "macosFleet.orphanReclaim.activeReclaim reclaims servers whose names begin with %q, and that overlaps %q, the reserved prefix of servers between pool and machine. Set another fullnameOverride, or set activeReclaim to false." $claimed $between) -}}
{{- end -}}
{{- end -}}
{{- if and $active (or (hasPrefix $claimed $pool) (hasPrefix $pool $claimed)) -}}
{{- fail (printf "macosFleet.orphanReclaim.activeReclaim reclaims servers whose names begin with %q, and the pool prefix is %q: neither may begin with the other, or free Macs would count as claimed. Set another fullnameOverride or adoptPoolPrefix, or set activeReclaim to false." $claimed $pool) -}}
{{- end -}}
{{- end -}}
{{- with .Values.buildersFleet -}}
{{- if and .enabled (not .ghAppSecretName) -}}
{{- fail "buildersFleet is enabled without buildersFleet.ghAppSecretName: builders register at GitHub with the GitHub App in that Secret. Set it." -}}
{{- end -}}
{{- if and .enabled (not .ghOrg) -}}
{{- fail "buildersFleet is enabled without buildersFleet.ghOrg, the GitHub organisation that builders register with. Set it." -}}
{{- end -}}
{{- if and .enabled (not (include "tartan.ownLabels" .ghRunnerLabels)) -}}
{{- fail (printf "buildersFleet.ghRunnerLabels %q has no label of its own: builders of every cluster may have self-hosted, macos, arm64, bare-metal and vm-image-builder, and two clusters of one organisation would take each other's jobs. Name the environment, as in self-hosted,macos,vm-image-builder,production, and use it in runs-on of the workflows." .ghRunnerLabels) -}}
{{- end -}}
{{- end -}}
{{- with include "tartan.runners.name" . -}}
{{- if and $.Values.runnersController.enabled (gt (len .) 63) -}}
{{- fail (printf "The runners controller would be named %q, which is longer than the 63 characters of a Service name. Set fullnameOverride." .) -}}
{{- end -}}
{{- end -}}
{{- with .Values.tailscale -}}
{{- if and .enabled (or (not .secretName) (not .tags)) -}}
{{- fail "tailscale is enabled without tailscale.secretName or tailscale.tags: Macs join with the key in that Secret and with these tags. Set both." -}}
{{- end -}}
{{- end -}}
{{- with .Values.vmClusterEgress -}}
{{- if ne (empty .kuraServiceCIDR) (empty .clusterDNSIP) -}}
{{- fail "vmClusterEgress has only one of kuraServiceCIDR and clusterDNSIP: VMs need the DNS of the cluster to use its network. Set both or none." -}}
{{- end -}}
{{- end -}}
{{- with .Values.fleetSpread -}}
{{- if and .namespace (not .deployment) -}}
{{- fail "fleetSpread.namespace is set without fleetSpread.deployment: there is nothing to spread. Set the Deployment, or leave both out." -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The labels of a comma-separated list that are not default labels. GitHub compares labels without case. */}}
{{- define "tartan.ownLabels" -}}
{{- $own := list -}}
{{- range $label := splitList "," (lower .) -}}
{{- $own = append $own (trim $label) -}}
{{- end -}}
{{- without $own "" "self-hosted" "macos" "arm64" "bare-metal" "vm-image-builder" | join "," -}}
{{- end }}
