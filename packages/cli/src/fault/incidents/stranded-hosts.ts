import { machine, macHost } from '@tartan/api';
import { isKubeError } from '@tartan/kube';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { coreKinds } from '../../simulation/fleets.ts';
import { aMember } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { untilAll, untilOne } from '../waiting.ts';

export const strandedHosts: Fault = {
  name: 'stranded-hosts',
  title:
    'A machine is deleted past its finalizer: its Mac was billed for 14 days, and nobody looked at it again (seed 004).',
  watch: ['tartan orphans -w', 'tartan pool -w', 'kubectl get machosts -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const { client } = simulation.controlPlane;
    const { name, server } = await aMember(scene);
    const installs = server.installs;
    const here = { namespace, name };
    const managers = simulation.providers.running();
    try {
      // Or it would give the Mac back before the finalizer is gone.
      for (const each of managers) each.kill('SIGSTOP');
      await client.delete(machine.resource, here);
      await client.patch(machine.resource, here, { type: 'merge', body: { metadata: { finalizers: null } } });
      await client.delete(coreKinds.machines, here).catch((error: unknown) => {
        if (!isKubeError(error, 'notFound')) throw error;
      });
    } finally {
      for (const each of managers) each.kill('SIGCONT');
    }
    say(`The machine ${name} is deleted by force: nobody gives its Mac ${server.id} back, and it keeps its name.`);
    const isIt = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === server.id;
    await untilOne(scene, macHost.resource, 'it is found', (host) => isIt(host) && host.status?.state === 'stranded');
    say('It is found: no machine knows it, and it is in no pool. scaleway_orphan_servers is 1.');
    await untilOne(scene, macHost.resource, 'it is sent back', (host) => isIt(host) && host.spec.release !== undefined);
    say('The sweep has looked once more, past all caches, and sends it back to the pool.');
    await untilOne(
      scene,
      macHost.resource,
      'it is wiped and free',
      (host) => isIt(host) && host.spec.release === undefined && server.installs > installs,
    );
    await untilAll(scene, coreKinds.machineDeployments, 'the fleets are complete again', (all) =>
      all.every(({ spec, status }) => status?.availableReplicas === spec?.['replicas']),
    );
    return 'The Mac was wiped and is back in the pool, and the fleet has its machine again. Without --orphan-reclaim-claim-name-prefix it would have been reported only: a person looks at tartan orphans.';
  },
};
