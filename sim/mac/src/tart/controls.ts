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

/** What becomes of each call of one command. */
export interface CommandBehaviour {
  readonly latencyMs?: number;
  /**
   * `before` and `after` its work; `stubborn`: before it, deaf to SIGTERM, with a grandchild that holds stdout; `orphan`: it ends as
   * always, and leaves a process behind that holds stdout.
   */
  readonly hang?: 'before' | 'after' | 'stubborn' | 'orphan';
  /** Does nothing, and answers this. `times` calls of it, all when absent. */
  readonly answer?: {
    readonly code: number;
    readonly stdout?: string;
    readonly stderr?: string;
    readonly times?: number;
  };
}

/** The Mac that tart believes to be on. An absent field is as on a healthy one. */
export interface HostControls {
  /** `stale`: every virtual machine reads as stopped. */
  readonly state?: 'truthful' | 'stale';
  /** How `Size` is encoded; by default a number in list and a string in get (INC-49). */
  readonly size?: 'int' | 'float' | 'string' | 'null';
  /** macOS guests at once; 2. */
  readonly limit?: number;
  /** A slot is not given back until `reboot`. */
  readonly leaksSlots?: boolean;
  readonly guiSession?: 'Aqua' | 'none';
  /** That of the session at the console: while it is locked no virtual machine starts. */
  readonly keychain?: 'unlocked' | 'locked';
  /** pull and clone fail with this text: see `noSpaceTexts`. */
  readonly noSpace?: string;
  /** `closed`: only prepared images exist. */
  readonly registry?: 'open' | 'closed';
  /** How long tart's second is; a real one is 1000. */
  readonly secondMs?: number;
  readonly memoryMb?: number;
  /** How long `push` takes for the disk (INC-46). */
  readonly pushDiskMs?: number;
}

/** One guest, by the name of its virtual machine, or every guest. */
export interface GuestControls {
  /** From `run` to the address. */
  readonly bootMs?: number;
  /** `none`: never gets one. */
  readonly address?: string;
  readonly agent?: 'ready' | 'absent';
  readonly agentAfterMs?: number;
  readonly agentLatencyMs?: number;
  /** Ends by itself this long after it booted. */
  readonly lifetimeMs?: number;
  /** How it ends: by shutting down, by an error of the framework (exit 0 as well), by losing its network, by SIGKILL, with a code. */
  readonly ends?: 'halt' | 'error' | 'network' | 'kill' | number;
  /** What it does when `shutdown` is executed in it. */
  readonly shutdown?: 'halts' | 'ignored' | 'refused';
  readonly shutdownTakesMs?: number;
  /** SIGINT does nothing: `tart stop` has to kill it. */
  readonly stuck?: boolean;
  /**
   * A shell script that runs in the guest's root folder after boot; shares are below `Volumes/My Shared Files`. `shutdown -h now` in it
   * halts the guest.
   */
  readonly program?: string;
  /** A shell script that answers every `exec`, whatever was asked. */
  readonly exec?: string;
}

/** One image of a registry. */
export interface ImageControls {
  readonly digest: string;
  /** Percentages that the download passes through; 0, 10, … 100. */
  readonly percents?: readonly number[];
  /** Between two of them. */
  readonly stepMs?: number;
  /** Moves without a word. */
  readonly quiet?: boolean;
  /** Never gets past this one. */
  readonly stallAt?: number;
  readonly failAt?: { readonly percent: number; readonly stderr: string };
  /** `user:password` without which it is refused. */
  readonly credentials?: string;
  readonly diskGb?: number;
  readonly sizeGb?: number;
}

export interface FakeTartControls {
  /** Replaces what was said of this command before. */
  command(name: TartCommand, behaviour: CommandBehaviour): void;
  /** Fields that are given change; `undefined` goes back to the default. */
  host(controls: { readonly [K in keyof HostControls]?: HostControls[K] | undefined }): void;
  /** `_` is every guest that says nothing else itself. */
  guest(name: string, controls: { readonly [K in keyof GuestControls]?: GuestControls[K] | undefined }): void;
  /** Puts an image under `host/namespace:tag`, or moves the tag to it. */
  image(reference: string, image: ImageControls): void;
  /** Slots that were lost are there again. */
  reboot(): void;
}
