import { aFreeHost, isReadyNode, nodesOf, readyMembers } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { askForMachine, complaint, type ExtraMachine } from '../extra-machine.ts';
import { lasting } from '../waiting.ts';

const outageMs = 2_000;

export const scalewayOutage: Fault = {
  name: 'scaleway-outage',
  title:
    'The API of Scaleway answers nothing but 503, while a machine is asked for: it was taken for "no Mac is free".',
  watch: ['tartan fleet -w', 'kubectl get samm -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    await aFreeHost(scene);
    const { calls } = simulation.macs.scaleway.faults;
    const before = (await readyMembers(scene)).map(({ name }) => name);
    const outage = { match: /./, times: Infinity, with: { status: 503 } };
    let extra: ExtraMachine | undefined;
    try {
      calls.push(outage);
      say('From now on, Scaleway answers 503 to everything.');
      extra = await askForMachine(scene);
      await lasting(outageMs, scene);
      const why = complaint(
        await extra.until('waits', (each) => complaint(each, 'Provisioned') !== undefined),
        'Provisioned',
      );
      say(`${extra.name} waits: ${why ?? ''}`);
      if (why?.startsWith('NoAvailableHost')) throw new Error('an outage was taken for a pool that is empty');
      const all = await nodesOf(scene);
      const down = before.filter((name) => !all.some((node) => node.metadata.name === name && isReadyNode(node)));
      if (down.length > 0) throw new Error(`Nodes are not Ready for the sake of Scaleway: ${down.join(', ')}`);
      say(`All ${before.length} Nodes are Ready, and Pods run on: nobody needs Scaleway for that.`);
      calls.splice(calls.indexOf(outage), 1);
      say('Scaleway answers again.');
      await extra.untilReady();
    } finally {
      if (calls.includes(outage)) calls.splice(calls.indexOf(outage), 1);
      await extra?.remove();
    }
    return 'The machine that was asked for got its Mac by itself once Scaleway answered, and goes again. Nobody has to do anything.';
  },
};
