import { leaderElectionID } from '@tartan/api';
import type { ManagerProcess } from '../../simulation/providers.ts';
import { aMember, readyMembers } from '../cast.ts';
import type { Fault, Scene } from '../fault.ts';
import { untilRenewed } from '../lease.ts';
import { currentVersion } from '../release.ts';

/** Seconds instead of a quarter of a minute. */
const soon = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=400ms',
];

interface Frozen {
  readonly process: ManagerProcess;
  /** By which it held the Lease. One that starts anew has another one. */
  readonly identity: string;
}

/**
 * On no process is written who it is. So each is frozen in turn: if the Lease is renewed in spite of it, and not only once, which may have
 * been under way, it was not the leader. Answers the one that was, when another one leads.
 */
const freezeLeader = async (scene: Scene, all: readonly ManagerProcess[]): Promise<Frozen> => {
  for (const each of all) {
    const before = await untilRenewed(scene, 1);
    each.kill('SIGSTOP');
    scene.say(`The manager ${each.pid} is frozen.`);
    if ((await untilRenewed(scene, 2)) !== before) return { process: each, identity: before };
    each.kill('SIGCONT');
    scene.say(`It was the one that stands by, and goes on. The other one leads.`);
  }
  throw new Error('nobody took over from a manager that was frozen');
};

export const leaderFrozen: Fault = {
  name: 'leader-frozen',
  title: 'The manager that leads freezes, another one takes over, and then it thaws and believes to lead still.',
  watch: [`kubectl get lease ${leaderElectionID} -w`, 'kubectl get machosts -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    await aMember(scene);
    const version = await currentVersion(scene);
    const members = await readyMembers(scene);
    const installs = (): string => members.map(({ server }) => `${server.name} ${server.installs}`).join();
    const before = installs();
    try {
      await simulation.upgrade({ version }, { managers: 2, flags: soon });
      say('Two managers run now, of which one leads; their Lease lasts 4 s.');
      const frozen = await freezeLeader(scene, simulation.providers.running());
      say(`Another one leads: ${await untilRenewed(scene, 1)}`);
      frozen.process.kill('SIGCONT');
      say(`The manager ${frozen.process.pid} thaws, and finds out that its Lease is over.`);
      if ((await untilRenewed(scene, 5)) === frozen.identity)
        throw new Error('the one that thawed has taken the Lease back');
      if (installs() !== before) throw new Error('a Mac that a machine holds was renamed or wiped meanwhile');
    } finally {
      for (const each of simulation.providers.running()) each.kill('SIGCONT');
      await simulation.upgrade({ version });
    }
    return 'The one that thawed did nothing: each act on a Mac asks first whether the Lease is still its own. Nobody has to do anything.';
  },
};
