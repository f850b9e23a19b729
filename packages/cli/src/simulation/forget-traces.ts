import { leaderElectionID, runnersLeaderElectionID, secretNames } from '@tartan/api';
import { type Client, isKubeError, leases, secrets } from '@tartan/kube';
import { fleetNamespace as namespace } from './control-plane.ts';
import { clusterName, fleetNames } from './fleets.ts';

/** What is made while a fleet lives: the SSH keys of fleets, the kubeconfig of core, the leases of the managers. */
export const forgetTraces = async (client: Client): Promise<void> => {
  const names = [
    ...[...fleetNames, 'builders'].map((fleet) => secretNames.fleetSSH(fleet)),
    secretNames.kubeconfig(clusterName),
  ];
  const removals = [
    ...names.map((name) => client.delete(secrets, { namespace, name })),
    ...[leaderElectionID, runnersLeaderElectionID].map((name) => client.delete(leases, { namespace, name })),
  ];
  for (const removal of await Promise.allSettled(removals))
    if (removal.status === 'rejected' && !isKubeError(removal.reason, 'notFound')) throw removal.reason;
};
