import { machine } from '@tartan/api';
import { nodes } from '@tartan/kube';
import { isReadyNode, readyMembers } from '../cast.ts';
import { CannotPlay, type Fault } from '../fault.ts';
import { complaint } from '../extra-machine.ts';
import { untilOne } from '../waiting.ts';

export const macPoweredOff: Fault = {
  name: 'mac-powered-off',
  title: 'A Mac loses its power: Node and machine must say so, nobody may wipe it, and it must come back by itself.',
  watch: ['kubectl get nodes -w', 'tartan fleet -w'],
  play: async (scene) => {
    const { say } = scene;
    const member = (await readyMembers(scene)).at(-1);
    if (member === undefined) throw new CannotPlay('No machine is Ready: wait until one is (kubectl get samm -w).');
    const { name, mac, server, machine: before } = member;
    const { installs } = server;
    const isIt = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === name;
    try {
      await mac.powerOff();
      say(`The Mac of ${name} is off. Kubernetes waits 50 s for its Lease before it gives it up.`);
      await untilOne(scene, nodes, `the Node of ${name} is not Ready`, (node) => isIt(node) && !isReadyNode(node));
      const down = await untilOne(
        scene,
        machine.resource,
        `${name} is not Ready`,
        (each) => isIt(each) && each.status?.ready !== true,
      );
      say(`${name} is not Ready: ${complaint(down, 'Ready') ?? complaint(down, 'NodeReady') ?? 'its Node is not'}`);
    } finally {
      await mac.powerOn();
      say(`The Mac of ${name} has power again.`);
    }
    await untilOne(scene, nodes, `the Node of ${name} is Ready`, (node) => isIt(node) && isReadyNode(node));
    const after = await untilOne(
      scene,
      machine.resource,
      `${name} is Ready`,
      (each) => isIt(each) && each.status?.ready === true,
    );
    if (
      after.metadata.uid !== before.metadata.uid ||
      after.status?.serverID !== server.id ||
      server.installs !== installs
    )
      throw new Error(`${name} came back on another Mac, or on one that was wiped`);
    return `${name} is Ready again, with the same Mac and everything on it. A person had to bring the power back, and nothing else.`;
  },
};
