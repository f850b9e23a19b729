import { macFleet, onTheMac } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { aMember } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { currentVersion, following, roll, untilRolled } from '../release.ts';
import { untilOne } from '../waiting.ts';

/** Once is enough to see it; usually it is tried five times, a minute apart. */
const soon = ['--tartkubelet-max-update-attempts=1'];

export const noOpKickstart: Fault = {
  name: 'no-op-kickstart',
  title:
    'launchctl kickstart answers 0 and leaves the old agent running: the roll counted as done, and the Node was stranded (seed 002).',
  watch: ['tartan roll status -w', 'kubectl get macfleets -w', 'kubectl get nodes -w'],
  play: async (scene) => {
    const { say } = scene;
    const { name, mac, machine } = await aMember(scene);
    const fleet = machine.spec.fleetName ?? '';
    const bad = following(await currentVersion(scene));
    const good = following(bad);
    const before = mac.job(onTheMac.agentJob)?.pid;
    say(`From now on, launchctl kickstart -k does nothing on the Mac of ${name}, and says that all is well.`);
    try {
      mac.faults.kickstart = 'no-op';
      await roll(scene, { version: bad }, soon);
      const stopped = await untilOne(
        scene,
        macFleet.resource,
        `the roll of ${fleet} stops`,
        ({ metadata, status }) =>
          metadata.name === fleet && getCondition(status?.conditions, 'Stalled')?.status === 'True',
      );
      say(`The roll of ${fleet} has stopped: ${getCondition(stopped.status?.conditions, 'Stalled')?.message ?? ''}`);
      if (mac.job(onTheMac.agentJob)?.pid !== before) throw new Error('the agent that ran was replaced after all');
      say(`The agent that ran on ${name} still runs, with its own release: nothing was recorded that did not happen.`);
    } finally {
      mac.faults.kickstart = 'normal';
      say(`The Mac of ${name} is mended.`);
      await roll(scene, { version: good });
    }
    await untilRolled(scene, good);
    return `The roll stopped instead of believing launchctl, and the next release (${good}) is on every Mac. A person reads the message of the fleet, looks at that Mac, and brings the next release.`;
  },
};
