import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type TartCommand =
  | 'list'
  | 'get'
  | 'ip'
  | 'pull'
  | 'push'
  | 'clone'
  | 'set'
  | 'rename'
  | 'delete'
  | 'prune'
  | 'run'
  | 'stop'
  | 'exec';

/** The behaviour of each call of one command. */
export interface CommandBehaviour {
  readonly latencyMs?: number;
  /**
   * `before` and `after` its work; `stubborn`: before it, ignoring SIGTERM, with a grandchild that holds stdout; `orphan`: it ends
   * normally, and leaves a process behind that holds stdout.
   */
  readonly hang?: 'before' | 'after' | 'stubborn' | 'orphan';
  /** Does nothing, and exits with this. For `times` calls, or all if absent. */
  readonly answer?: {
    readonly code: number;
    readonly stdout?: string;
    readonly stderr?: string;
    readonly times?: number;
  };
}

/** The Mac as tart sees it. Absent fields mean a healthy one. */
export interface HostControls {
  /** `stale`: every virtual machine is reported as stopped. */
  readonly state?: 'truthful' | 'stale';
  /** How `Size` is encoded; by default a number in list and a string in get (INC-49). */
  readonly size?: 'int' | 'float' | 'string' | 'null';
  /** Concurrent macOS guests; default 2. */
  readonly limit?: number;
  /** A slot is lost until `reboot`. */
  readonly leaksSlots?: boolean;
  readonly guiSession?: 'Aqua' | 'none';
  /** Of the console session: while it is locked, no virtual machine starts. */
  readonly keychain?: 'unlocked' | 'locked';
  /** pull and clone fail with this text: see `noSpaceTexts`. */
  readonly noSpace?: string;
  /** `closed`: only prepared images exist. */
  readonly registry?: 'open' | 'closed';
  /** The length of tart's second; default 1000. */
  readonly secondMs?: number;
  readonly memoryMb?: number;
  /** How long `push` takes for the disk (INC-46). */
  readonly pushDiskMs?: number;
  /** `push` stops at the disk until this is unset. */
  readonly pushHeld?: boolean;
}

/** One guest, by the name of its virtual machine, or every guest. */
export interface GuestControls {
  /** From `run` to the address. */
  readonly bootMs?: number;
  /** Gets no address until this is taken back. */
  readonly bootHeld?: boolean;
  /** `none`: never gets one. */
  readonly address?: string;
  readonly agent?: 'ready' | 'absent';
  readonly agentAfterMs?: number;
  readonly agentLatencyMs?: number;
  /** Ends by itself this long after boot. */
  readonly lifetimeMs?: number;
  /** How it ends: a shutdown, an error of the framework (also exit 0), a lost network, SIGKILL, or an exit code. */
  readonly ends?: 'halt' | 'error' | 'network' | 'kill' | number;
  /** Its reaction to an exec of `shutdown`. */
  readonly shutdown?: 'halts' | 'ignored' | 'refused';
  readonly shutdownTakesMs?: number;
  /** SIGINT does nothing: `tart stop` has to kill it. */
  readonly stuck?: boolean;
  /**
   * A shell script that runs in the guest's root folder after boot; shares are below `Volumes/My Shared Files`. `shutdown -h now` in it
   * halts the guest.
   */
  readonly program?: string;
  /** A shell script that answers every `exec`. */
  readonly exec?: string;
}

/** One image of a registry. */
export interface ImageControls {
  readonly digest: string;
  /** Percentages that the download reports; default 0, 10, … 100. */
  readonly percents?: readonly number[];
  /** Between two percentages. */
  readonly stepMs?: number;
  /** Reports no progress. */
  readonly quiet?: boolean;
  /** Stops at this percentage until it is unset. */
  readonly stallAt?: number;
  readonly failAt?: { readonly percent: number; readonly stderr: string };
  /** `user:password`, required for a pull. */
  readonly credentials?: string;
  readonly diskGb?: number;
  readonly sizeGb?: number;
}

export interface FakeTartControls {
  /** Replaces the earlier behaviour of this command. */
  command(name: TartCommand, behaviour: CommandBehaviour): void;
  /** Changes the given fields; `undefined` restores the default. */
  host(controls: { readonly [K in keyof HostControls]?: HostControls[K] | undefined }): void;
  /** `_` applies to every guest without its own setting. */
  guest(name: string, controls: { readonly [K in keyof GuestControls]?: GuestControls[K] | undefined }): void;
  /** Adds an image as `host/namespace:tag`, or moves the tag to it. */
  image(reference: string, image: ImageControls): void;
  /** Restores lost slots. */
  reboot(): void;
}

let writeCount = 0;

/** One value in one file, replaced atomically: a concurrent call reads the old or the new value. `undefined` removes it. */
const writeControl = (folder: string, key: string, value: string | undefined): void => {
  const file = join(folder, key);
  if (value === undefined) {
    rmSync(file, { force: true, recursive: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.${writeCount++}`;
  writeFileSync(fresh, value.endsWith('\n') ? value : `${value}\n`);
  renameSync(fresh, file);
};

/** Seconds for `sleep`, from milliseconds. */
const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);

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
  pushHeld: ['push-held', text],
};

const guestKeys: {
  readonly [K in keyof Required<GuestControls>]: readonly [string, (value: never) => string | undefined];
} = {
  bootMs: ['boot', time],
  bootHeld: ['boot-held', text],
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

/** A script that gives its program an own root folder may name paths below `$root`. */
const rooted = (script: string): string =>
  script.includes('TARTAN_GUEST_ROOT=$PWD exec ') ? script.replaceAll('$root/sbin/shutdown', '') : script;

/** A shell of this machine runs the script: it must not reach the real shutdown. */
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

/** The controls in `folder`. Every call of the fake reads them anew. */
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
