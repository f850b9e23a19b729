import { leaderElectionID } from '@tartan/api';
import { leases } from '@tartan/kube';
import { type ManagerProcess, type Simulation, untilObjects } from '@tartan/sim-fleet';

/** Renewals after which whoever holds the lease is surely awake: one may have been under way. */
const renewals = 3;

/**
 * Freezes the manager that leads, and waits until another one does. Which one leads is found out as nature tells it: whoever is frozen
 * does not renew.
 */
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
