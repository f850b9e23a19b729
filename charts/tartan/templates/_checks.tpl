{{/* What a schema cannot say: values that contradict each other. Each refusal says what, why, and what to do. */}}
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
{{- fail (printf "%s would be called %q, which is longer than 51 characters: names of machines add twelve, and a label holds 63. Set fullnameOverride or %s.name." $key $name $key) -}}
{{- end -}}
{{- with get $names $name -}}
{{- fail (printf "%s and %s are both called %q, and would be one fleet with two owners. Set another %s.name." . $key $name $key) -}}
{{- end -}}
{{- $_ := set $names $name $key -}}
{{- if and $active (not (hasPrefix $claimed $name)) -}}
{{- fail (printf "macosFleet.orphanReclaim.activeReclaim gives back servers whose names begin with %q, and %s.name %q does not: its stranded Macs would never be found. Rename the fleet, set fullnameOverride, or switch activeReclaim off." $claimed $key $name) -}}
{{- end -}}
{{- with $fleet.healthCheck -}}
{{- if and .enabled (gt (int64 .nodeStartupTimeoutSeconds) 0) (lt (int64 .nodeStartupTimeoutSeconds) 1800) -}}
{{- fail (printf "%s.healthCheck.nodeStartupTimeoutSeconds %d is shorter than half an hour, and a reinstall with a bootstrap can take that long: machines would be replaced, and their Macs wiped, before they are done. Raise it, or set 0 for no limit." $key (int64 .nodeStartupTimeoutSeconds)) -}}
{{- end -}}
{{- if and .enabled (le (int64 .unhealthyTimeoutSeconds) (int64 $fleet.rollout.gateDeadlineSeconds)) -}}
{{- fail (printf "%s.healthCheck.unhealthyTimeoutSeconds %d is not above rollout.gateDeadlineSeconds %d: a Mac that is being rolled would be taken for a broken one, and wiped. Raise the first or lower the second." $key (int64 .unhealthyTimeoutSeconds) (int64 $fleet.rollout.gateDeadlineSeconds)) -}}
{{- end -}}
{{- end -}}
{{- $least := "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size" -}}
{{- $most := "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size" -}}
{{- if ne (hasKey $fleet.annotations $least) (hasKey $fleet.annotations $most) -}}
{{- fail (printf "%s.annotations has one of %s and %s: Cluster API would set the number of machines to 1 when it is left to an autoscaler. Set both or none." $key $least $most) -}}
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
{{- fail (printf "%s is called %q, which begins like servers of the pool (%q): claimed Macs would be taken for free ones. Choose another name or another adoptPoolPrefix." $key $name $pool) -}}
{{- end -}}
{{- end -}}
{{- range $between := list "tuist-claim-pending-" "tuist-releasing-" -}}
{{- if or (hasPrefix $pool $between) (hasPrefix $between $pool) -}}
{{- fail (printf "adoptPoolPrefix %q overlaps %q, which servers between pool and machine are called. Choose another prefix." $pool $between) -}}
{{- end -}}
{{- if and $active (or (hasPrefix $claimed $between) (hasPrefix $between $claimed)) -}}
{{- fail (printf "macosFleet.orphanReclaim.activeReclaim gives back servers whose names begin with %q, and that overlaps %q, which servers between pool and machine are called. Set another fullnameOverride, or switch activeReclaim off." $claimed $between) -}}
{{- end -}}
{{- end -}}
{{- if and $active (or (hasPrefix $claimed $pool) (hasPrefix $pool $claimed)) -}}
{{- fail (printf "macosFleet.orphanReclaim.activeReclaim gives back servers whose names begin with %q, and the pool is %q: neither may begin with the other, or free Macs count as claimed. Set another fullnameOverride or adoptPoolPrefix, or switch activeReclaim off." $claimed $pool) -}}
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
{{- fail (printf "buildersFleet.ghRunnerLabels %q has no label of its own: builders of every cluster may bear self-hosted, macos, arm64, bare-metal and vm-image-builder, and two clusters of one organisation would take each other's jobs. Name the environment, as in self-hosted,macos,vm-image-builder,production, and ask for it in runs-on of the workflows." .ghRunnerLabels) -}}
{{- end -}}
{{- end -}}
{{- with include "tartan.runners.name" . -}}
{{- if and $.Values.runnersController.enabled (gt (len .) 63) -}}
{{- fail (printf "The runners controller would be called %q, which is longer than 63 characters, and so could have no Service. Set fullnameOverride." .) -}}
{{- end -}}
{{- end -}}
{{- with .Values.tailscale -}}
{{- if and .enabled (or (not .secretName) (not .tags)) -}}
{{- fail "tailscale is enabled without tailscale.secretName or tailscale.tags: Macs join with the key in that Secret, and are known by their tags. Set both." -}}
{{- end -}}
{{- end -}}
{{- with .Values.vmClusterEgress -}}
{{- if ne (empty .kuraServiceCIDR) (empty .clusterDNSIP) -}}
{{- fail "vmClusterEgress has one of kuraServiceCIDR and clusterDNSIP: virtual machines reach a network of the cluster only together with its DNS. Set both or none." -}}
{{- end -}}
{{- end -}}
{{- with .Values.fleetSpread -}}
{{- if and .namespace (not .deployment) -}}
{{- fail "fleetSpread.namespace is set without fleetSpread.deployment: there is nothing to spread. Set the Deployment, or leave both out." -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Of a list with commas, the labels that neither GitHub nor the default gives to every builder. GitHub does not tell capitals apart. */}}
{{- define "tartan.ownLabels" -}}
{{- $own := list -}}
{{- range $label := splitList "," (lower .) -}}
{{- $own = append $own (trim $label) -}}
{{- end -}}
{{- without $own "" "self-hosted" "macos" "arm64" "bare-metal" "vm-image-builder" | join "," -}}
{{- end }}
