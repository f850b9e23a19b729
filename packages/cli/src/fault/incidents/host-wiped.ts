import { machine } from '@tartan/api';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { coreKinds } from '../../simulation/fleets.ts';
import { aMember } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { complaint } from '../extra-machine.ts';
import { untilAll, untilGone, untilOne } from '../waiting.ts';

export const hostWiped: Fault = {
  name: 'host-wiped',
  title:
    'Somebody reinstalls a Mac in the console of Scaleway while a machine holds it: it answered no more, and nobody knew why.',
  watch: ['tartan fleet -w', 'kubectl get samm -w', 'kubectl get machosts -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const { name, server } = await aMember(scene);
    await simulation.macs.pool.reinstall(server.zone, server.id, undefined);
    say(`The Mac of ${name} is being reinstalled, and nobody has asked Tartan.`);
    const down = await untilOne(
      scene,
      machine.resource,
      `${name} says that it is not Ready`,
      (each) => each.metadata.name === name && complaint(each, 'Ready') !== undefined,
    );
    say(`${name} is not Ready: ${complaint(down, 'Ready') ?? ''}`);
    const { client } = simulation.controlPlane;
    say(`A person deletes the Machine: kubectl delete machine ${name}`);
    await client.delete(coreKinds.machines, { namespace, name });
    await untilGone(scene, machine.resource, name);
    await untilAll(scene, coreKinds.machineDeployments, 'the fleets are complete again', (all) =>
      all.every(({ spec, status }) => status?.availableReplicas === spec?.['replicas']),
    );
    return `Another machine has taken the place of ${name}, and its Mac is on its way back to the pool, wiped once more. A person deletes the Machine, as here, and asks who uses the console.`;
  },
};
