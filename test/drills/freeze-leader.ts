import { leaderElectionID } from '@tartan/api';
import { leases } from '@tartan/kube';
import { type ManagerProcess, type Simulation, untilObjects } from '@tartan/sim-fleet';

/** So many renewals prove that the holder of the lease is not frozen: one may have been in progress. */
const renewals = 3;

/** Freezes the leader, and waits until another manager leads. Finds the leader by trial: a frozen leader does not renew the lease. */
export const freezeLeader = async (
  { controlPlane: { client }, managerDeployment }: Simulation,
  signal: AbortSignal,
): Promise<ManagerProcess> => {
  const lease = async () =>
    (await client.list(leases)).items.find(({ metadata }) => metadata.name === leaderElectionID)?.spec;
  const isHeld = (await lease())?.holderIdentity;
  if (!isHeld) await untilObjects(client, leases, (all) => all.some(({ spec }) => !!spec?.holderIdentity), signal);
  for (;;)
    for (const manager of managerDeployment.running()) {
      const before = (await lease())?.holderIdentity;
      manager.kill('SIGSTOP');
      const seen = new Set<unknown>();
      let holder = before;
      await untilObjects(
        client,
        leases,
        (all) => {
          const spec = all.find(({ metadata }) => metadata.name === leaderElectionID)?.spec;
          holder = spec?.holderIdentity ?? undefined;
          seen.add(spec?.renewTime);
          return !!holder && (holder !== before || seen.size > renewals);
        },
        signal,
      );
      if (holder !== before) return manager;
      manager.kill('SIGCONT');
      signal.throwIfAborted();
    }
};
