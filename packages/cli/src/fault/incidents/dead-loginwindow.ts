import { readySlot } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { runPod } from '../pod.ts';

export const deadLoginwindow: Fault = {
  name: 'dead-loginwindow',
  title:
    'loginwindow died of a SIGHUP and nobody is logged in at the console: each virtual machine failed on four Macs, silently (seed 003).',
  watch: ['kubectl get pods -o wide -w', 'kubectl get events -w'],
  play: async (scene) => {
    const { say } = scene;
    const { name, mac } = await readySlot(scene);
    try {
      mac.faults.loginwindow = 'dead';
      mac.endGuiSession();
      say(`On the Mac of ${name}, loginwindow is dead and the console is empty. Now a Pod comes.`);
      const pod = await runPod(scene, name);
      try {
        await pod.untilRunning();
        if (mac.guiSession() !== 'Aqua') throw new Error('the Pod runs, but nobody is logged in at the console');
        say(`Its agent had launchd start loginwindow again, and the Pod ${pod.name} runs.`);
      } finally {
        await pod.remove();
      }
    } finally {
      mac.faults.loginwindow = 'normal';
    }
    return 'The agent brought the console back before it started the virtual machine. Nobody has to do anything.';
  },
};
