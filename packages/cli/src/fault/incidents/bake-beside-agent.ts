import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { onTheMac } from '@tartan/api';
import type { Mac } from '@tartan/sim-mac';
import { aMember } from '../cast.ts';
import type { Fault } from '../fault.ts';
import { untilTrue } from '../waiting.ts';

const image = 'ghcr.io/example/macos-tahoe-base:26.1';
const bake = 'tuist-runner';
const home = '/Users/m1/.tart';

/** Of the Mac: the disk took longer than the interval of the collector. */
const pushSeconds = 400;

/** As a person who is logged in there. */
const tart = async (mac: Mac, words: string): Promise<void> => {
  const { code, stderr } = await mac.run(`"$TARTAN_ROOT/usr/local/bin/tart" ${words}`);
  if (code !== 0) throw new Error(`tart ${words} has failed: ${stderr.trim()}`);
};

/** How often anybody has asked which virtual machines there are. */
const lists = async (mac: Mac): Promise<number> =>
  (await readFile(mac.path(`${home}/.fake/journal`), 'utf8')).split('\u001Flist').length;

const put = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
};

export const bakeBesideAgent: Fault = {
  name: 'bake-beside-agent',
  title:
    'An image is baked on a Mac beside the agent: its collector took the virtual machine away in the middle of tart push (seed 001).',
  watch: ['kubectl get nodes', 'tartan fleet -w'],
  play: async (scene) => {
    const { say } = scene;
    const { name, mac } = await aMember(scene);
    try {
      await put(mac.path(`${home}/.fake/host/push-disk`), `${pushSeconds}\n`);
      await tart(mac, `clone ${image} ${bake}`);
      const pushing = tart(mac, `push ${bake} ghcr.io/example/runner:1`);
      pushing.catch(() => {});
      say(
        `On the Mac of ${name} somebody has baked ${bake}, which no Pod knows, and pushes it: the disk is on its way.`,
      );
      const before = await lists(mac);
      await mac.run(`launchctl kickstart -k system/${onTheMac.agentJob}`, { asRoot: true });
      say('The agent is restarted, and so collects at once instead of in five minutes.');
      await untilTrue(scene, 'the agent has looked for what to collect', async () => (await lists(mac)) > before);
      await pushing;
      if (!existsSync(mac.path(`${home}/vms/${bake}`))) throw new Error(`the agent has removed ${bake}`);
    } finally {
      await rm(mac.path(`${home}/.fake`), { recursive: true, force: true });
      await tart(mac, `delete ${bake}`).catch(() => {});
    }
    return `${bake} was left alone, and its push has arrived whole, NVRAM last: the agent collects what it has made itself, and nothing else. Nobody has to do anything.`;
  },
};
