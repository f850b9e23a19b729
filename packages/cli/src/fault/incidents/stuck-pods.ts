import { finalizers } from '@tartan/api';
import { createSubresources } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { readySlot } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { runPod } from '../pod.ts';

export const stuckPods: Fault = {
  name: 'stuck-pods',
  title:
    'A Pod that has finished is deleted: 504 of them hung in Terminating, since nobody removed their finalizer (seed 003).',
  watch: ['kubectl get pods -w', 'tartan pods unstick'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const { name } = await readySlot(scene);
    const { execInPod } = createSubresources(simulation.controlPlane.transport, { clock });
    const pod = await runPod(scene, name);
    try {
      await pod.untilRunning();
      await execInPod({ namespace, name: pod.name }, { command: ['shutdown', '-h', 'now'], stdout: () => {} });
      say(`The job in ${pod.name} is done, and its guest shuts down.`);
      const ended = await pod.until('has finished', ({ status }) => status?.phase === 'Succeeded');
      const held = (ended.metadata.finalizers ?? []).includes(finalizers.vmCleanup);
      say(
        `${pod.name} has Succeeded${held ? `, and bears the finalizer ${finalizers.vmCleanup}` : ''}. Now it is deleted.`,
      );
    } finally {
      await pod.remove();
    }
    return `${pod.name} is gone, and so is its virtual machine: deletion is looked at before the phase. Pods that hang for another reason are shown, and let go, by tartan pods unstick.`;
  },
};
