import { leases } from '@tartan/kube';
import { onTheMac } from '@tartan/api';
import { readySlot, readyMembers } from '../cast.ts';
import { CannotPlay, type Fault } from '../fault.ts';
import { runPod } from '../pod.ts';
import { lasting, untilTrue } from '../waiting.ts';

const outageMs = 3_000;

/** Processes of virtual machines, as the Mac shows them. */
const guests = "ps -A -ww -o pid=,command= | grep '[t]art run' | awk '{ print $1 }'";

export const apiServerOutage: Fault = {
  name: 'api-server-outage',
  title:
    'The API server answers nobody for a while: virtual machines must run on, and nobody may act on what it remembers.',
  watch: ['kubectl get nodes', 'tartan fleet'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const { pause, client } = simulation.controlPlane;
    if (pause === undefined) throw new CannotPlay('This Kubernetes is not ours to stop: only the embedded one can be.');
    const { name, mac } = await readySlot(scene);
    const members = await readyMembers(scene);
    const pod = await runPod(scene, name);
    try {
      const { metadata } = await pod.untilRunning();
      const before = [(await mac.run(guests)).stdout, mac.job(onTheMac.agentJob)?.pid].join();
      const goOn = await pause();
      try {
        say(`The API server is away, for ${outageMs / 1000} s.`);
        await lasting(outageMs, scene);
      } finally {
        await goOn();
        say('The API server answers again.');
      }
      const since = Date.now();
      if ([(await mac.run(guests)).stdout, mac.job(onTheMac.agentJob)?.pid].join() !== before)
        throw new Error(`the virtual machine or the agent on ${name} is another one than before`);
      say(`The virtual machine of ${pod.name} and the agent of ${name} have run on, as the same processes.`);
      await untilTrue(scene, 'every Mac has renewed its Lease', async () => {
        const { items } = await client.list(leases, { namespace: 'kube-node-lease' });
        const renewed = items.filter(({ spec }) => Date.parse(spec?.renewTime ?? '') >= since);
        return members.every((member) => renewed.some((lease) => lease.metadata.name === member.name));
      });
      const after = await pod.until('runs', ({ status }) => status?.phase === 'Running');
      if (after.metadata.uid !== metadata.uid) throw new Error(`${pod.name} is another Pod than before`);
    } finally {
      await pod.remove();
    }
    return 'Every Mac has renewed its Lease since, and the Pod runs on as if nothing had happened. Nobody has to do anything.';
  },
};
