import { macHost } from '@tartan/api';
import { aFreeHost } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { askForMachine, type ExtraMachine } from '../extra-machine.ts';
import { endQuarantine, untilQuarantined } from '../quarantine.ts';
import { untilOne } from '../waiting.ts';

export const reinstallWithoutWipe: Fault = {
  name: 'reinstall-without-wipe',
  title:
    'Scaleway says that a Mac was reinstalled, and it was not: the next machine got the disk, the agent and the secrets of the last.',
  watch: ['tartan pool -w', 'kubectl get machosts -w', 'kubectl get samm -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const host = await aFreeHost(scene);
    const { id } = host.server;
    const { reinstallDoesNotWipe } = simulation.macs.scaleway.faults;
    const machines: ExtraMachine[] = [];
    try {
      const first = await askForMachine(scene, host);
      machines.push(first);
      await first.untilReady();
      reinstallDoesNotWipe.add(id);
      say(`From now on, a reinstall of the Mac ${id} changes nothing. Its machine is deleted.`);
      await first.remove();
      await untilOne(
        scene,
        macHost.resource,
        'it is in the pool',
        ({ metadata, status }) => metadata.name === id && status?.state === 'pool',
      );
      say('Scaleway has said reinstalling, then ready: it is in the pool again. Another machine gets it.');
      const second = await askForMachine(scene, host);
      machines.push(second);
      await untilOne(
        scene,
        macHost.resource,
        'it is given back',
        ({ metadata, spec }) => metadata.name === id && spec.release?.reason === 'NotWiped',
      );
      say(
        'At first contact it shows the SSH host key of the machine before: nothing on it is touched, and it is wiped again.',
      );
      reinstallDoesNotWipe.delete(id);
      say(`Scaleway is mended, and the Mac is in quarantine: ${await untilQuarantined(scene, host)}`);
    } finally {
      reinstallDoesNotWipe.delete(id);
      for (const each of machines) await each.remove();
    }
    await endQuarantine(scene, host);
    return 'A Mac that was not wiped is never used: its old host key gives it away. A person asks Scaleway what became of the reinstall.';
  },
};
