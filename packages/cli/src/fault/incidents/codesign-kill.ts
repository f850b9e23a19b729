import { readFile, realpath, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTheMac } from '@tartan/api';
import { type Mac, standInSoftware } from '@tartan/sim-mac';
import { aMember, readyMembers } from '../cast.ts';
import { CannotPlay, type Fault } from '../fault.ts';
import { currentVersion, following, roll, untilRolled } from '../release.ts';
import { untilTrue } from '../waiting.ts';

const restart = `launchctl kickstart -k system/${onTheMac.agentJob}`;

const kills = ({ journal }: Mac): number =>
  journal.entries.filter(({ what, detail }) => what === 'launchd.exit' && detail.includes('OS_REASON_CODESIGNING'))
    .length;

/** What launchd starts for the agent, where it really lies. */
const programOf = async (mac: Mac): Promise<string> => {
  const [program] = mac.job(onTheMac.agentJob)?.arguments ?? [];
  if (program === undefined) throw new CannotPlay('launchd of that Mac knows no agent.');
  return realpath(mac.path(program));
};

export const codesignKill: Fault = {
  name: 'codesign-kill',
  title:
    'A program is overwritten while macOS remembers its old signature: the kernel killed the new agent on two Macs of three (seed 002).',
  watch: ['tartan roll status -w', 'kubectl get nodes -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const { name, mac } = await aMember(scene);
    const program = await programOf(mac);
    const before = await readFile(program);
    const { node } = await standInSoftware(join(simulation.folder, 'next-runtime'), { variant: 'b' });
    const runtime = await readFile(node.file, 'utf8');
    const version = following(await currentVersion(scene));
    const killed = kills(mac);
    try {
      // Into the same inode, as scp does.
      await writeFile(program, runtime);
      await mac.run(restart, { asRoot: true });
      say(
        `On the Mac of ${name} the program of the agent is overwritten in place, and restarted, as it was done then.`,
      );
      await untilTrue(scene, 'macOS kills it', () => kills(mac) > killed);
      say('macOS kills it at each start: OS_REASON_CODESIGNING.');
      const others = await readyMembers(scene);
      const sofar = new Map(others.map((each) => [each.name, kills(each.mac)]));
      await roll(scene, { version, runtime });
      await untilRolled(scene, version);
      const hit = others.filter((each) => each.name !== name && kills(each.mac) !== sofar.get(each.name));
      if (hit.length > 0) throw new Error(`macOS killed the agent on ${hit.map((each) => each.name).join(', ')}`);
    } finally {
      // The bytes that macOS remembers, where nothing newer is in use.
      if (existsSync(program)) await writeFile(program, before);
      if (scene.signal.aborted) await mac.run(restart, { asRoot: true });
    }
    return `The roll put the same new program beside the old one, as a file of its own, and signed it: agent ${version} runs on every Mac, also on ${name}. Nobody has to do anything.`;
  },
};
