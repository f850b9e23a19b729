import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seconds, writeControl } from './control-files.ts';
import type { FakeTartControls, GuestControls, HostControls } from './controls.ts';

const text = (value: string | number | boolean | undefined): string | undefined =>
  value === undefined || value === false ? undefined : String(value);
const time = (value: number | undefined): string | undefined => (value === undefined ? undefined : seconds(value));

const hostKeys: {
  readonly [K in keyof Required<HostControls>]: readonly [string, (value: never) => string | undefined];
} = {
  state: ['state', text],
  size: ['size', text],
  limit: ['limit', text],
  leaksSlots: ['leaks', text],
  guiSession: ['session', text],
  keychain: ['keychain', text],
  noSpace: ['no-space', text],
  registry: ['registry', text],
  secondMs: ['second', time],
  memoryMb: ['memory', text],
  pushDiskMs: ['push-disk', time],
};

const guestKeys: {
  readonly [K in keyof Required<GuestControls>]: readonly [string, (value: never) => string | undefined];
} = {
  bootMs: ['boot', time],
  address: ['address', text],
  agent: ['agent', text],
  agentAfterMs: ['agent-after', time],
  agentLatencyMs: ['agent-latency', time],
  lifetimeMs: ['lifetime', time],
  ends: ['ends', text],
  shutdown: ['shutdown', text],
  shutdownTakesMs: ['shutdown-takes', time],
  stuck: ['stuck', text],
  program: ['program', text],
  exec: ['exec', text],
};

/** One that gives a program its own folder as the root of all paths may name what is below `$root`. */
const rooted = (script: string): string =>
  script.includes('TARTAN_GUEST_ROOT=$PWD exec ') ? script.replaceAll('$root/sbin/shutdown', '') : script;

/** A script is run by a shell of this machine: the real shutdown must be out of its reach. */
const checkScript = (script: unknown): void => {
  if (typeof script === 'string' && /\/s?bin\/(shutdown|halt|reboot|poweroff)/.test(rooted(script)))
    throw new Error(
      'A guest script calls the shutdown of the machine underneath: write `shutdown -h now` without a path',
    );
};

const writeAll = (
  folder: string,
  under: string,
  keys: Readonly<Record<string, readonly [string, (value: never) => string | undefined]>>,
  values: object,
): void => {
  for (const [name, value] of Object.entries(values)) {
    const key = keys[name];
    if (key !== undefined) writeControl(folder, join(under, key[0]), key[1](value as never));
  }
};

/** The controls in `folder`, which every call of the fake reads anew. */
export const createControls = (folder: string): FakeTartControls => ({
  command: (name, { latencyMs, hang, answer }) => {
    const under = join('commands', name);
    rmSync(join(folder, under), { recursive: true, force: true });
    writeControl(folder, join(under, 'latency'), time(latencyMs));
    writeControl(folder, join(under, 'hang'), hang);
    if (answer === undefined) return;
    writeControl(folder, join(under, 'stdout'), answer.stdout);
    writeControl(folder, join(under, 'stderr'), answer.stderr);
    if (answer.times !== undefined) {
      mkdirSync(join(folder, under, 'times'), { recursive: true });
      for (let ticket = 0; ticket < answer.times; ticket++)
        writeFileSync(join(folder, under, 'times', String(ticket)), '');
    }
    writeControl(folder, join(under, 'exit'), String(answer.code));
  },
  host: (controls) => writeAll(folder, 'host', hostKeys, controls),
  guest: (name, controls) => {
    checkScript(controls.program);
    checkScript(controls.exec);
    writeAll(folder, join('guests', name), guestKeys, controls);
  },
  image: (reference, image) => {
    const { repository, tag } = /^(?<repository>[^/]+\/.+):(?<tag>[^/:]+)$/.exec(reference)?.groups ?? {};
    if (repository === undefined || tag === undefined) throw new Error(`${reference} is not host/namespace:tag`);
    const under = join('registry', repository, `@${image.digest}`);
    mkdirSync(join(folder, under), { recursive: true });
    writeControl(folder, join(under, 'percents'), image.percents?.join(' '));
    writeControl(folder, join(under, 'step'), time(image.stepMs));
    writeControl(folder, join(under, 'quiet'), text(image.quiet));
    writeControl(folder, join(under, 'stall'), text(image.stallAt));
    writeControl(folder, join(under, 'fail-at'), text(image.failAt?.percent));
    writeControl(folder, join(under, 'fail'), image.failAt?.stderr);
    writeControl(folder, join(under, 'credentials'), image.credentials);
    writeControl(folder, join(under, 'sizes'), `${image.diskGb ?? 50} ${(image.sizeGb ?? 20.125).toFixed(3)}`);
    writeControl(folder, join('registry', repository, `:${tag}`), image.digest);
  },
  reboot: () => {
    for (const slot of readdirSync(join(folder, 'leaked'))) rmSync(join(folder, 'leaked', slot), { force: true });
  },
});
