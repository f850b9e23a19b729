import { randomBytes } from 'node:crypto';
import { macHost } from '@tartan/api';
import { claimPrefix } from '../../simulation/fleets.ts';
import { aFreeHost } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { askForMachine } from '../extra-machine.ts';
import { untilOne } from '../waiting.ts';

export const adoptionDuringSweep: Fault = {
  name: 'adoption-during-sweep',
  title:
    'A machine adopts a Mac while the sweep, which has seen it stranded a moment ago, is about to wipe it (seed 004, its review).',
  watch: ['kubectl get machosts -w', 'kubectl get samm -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const host = await aFreeHost(scene);
    const { server } = host;
    const [poolName, name] = [server.name, `${claimPrefix}adopts-${randomBytes(2).toString('hex')}`];
    const managers = simulation.providers.running();
    const isIt = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === server.id;
    let extra: Awaited<ReturnType<typeof askForMachine>> | undefined;
    try {
      server.name = name;
      say(`The Mac ${server.id} is called ${name} now, as if its machine had vanished in the middle of a claim.`);
      await untilOne(scene, macHost.resource, 'it is found', (each) => isIt(each) && each.status?.state === 'stranded');
      say('It is found stranded, and the next sweep may wipe it. Right now the machine of that name comes (again).');
      try {
        // What the manager knows of machines is old when it goes on.
        for (const each of managers) each.kill('SIGSTOP');
        extra = await askForMachine(scene, undefined, name);
      } finally {
        for (const each of managers) each.kill('SIGCONT');
      }
      const claimed = await extra.until('holds a Mac', ({ status }) => status?.serverID !== undefined);
      const mine = simulation.macs.scaleway.servers().find(({ id }) => id === claimed.status?.serverID);
      const installs = mine?.installs;
      const way =
        mine?.id === server.id && installs === server.installs ? 'the machine came first' : 'the sweep came first';
      await extra.untilReady();
      if (mine === undefined || mine.installs !== installs) throw new Error('a Mac was wiped while a machine held it');
      const after = await untilOne(scene, macHost.resource, 'it is held', ({ metadata }) => metadata.name === mine.id);
      if (after.spec.consumerRef?.name !== name)
        throw new Error('the Mac is not held by the machine that is Ready on it');
      say(`${name} is Ready on ${mine.id}, which nobody has wiped since: ${way}.`);
    } finally {
      if (extra === undefined) server.name = poolName;
      else await extra.remove();
    }
    return 'Release and claim are two writes to one object, of which only one succeeds: no Mac that a machine held was wiped. Nobody has to do anything.';
  },
};
