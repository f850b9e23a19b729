import { kindNames } from '@tartan/api';
import type { Right } from '@tartan/kube';

const { machine, macHost } = kindNames;

/** All that looking for what would be left behind takes. Macs belong to no namespace. */
export const uninstallRights: { readonly clusterWide: readonly Right[]; readonly inNamespace: readonly Right[] } = {
  clusterWide: [{ apiGroups: [macHost.group], resources: [macHost.plural], verbs: ['list'] }],
  inNamespace: [{ apiGroups: [machine.group], resources: [machine.plural], verbs: ['list'] }],
};
