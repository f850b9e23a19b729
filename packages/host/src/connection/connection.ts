import type { Readable } from 'node:stream';

/** What to run on a host, and for how long it may run. */
export interface RemoteCommand {
  /** A line for the host's login shell, whichever that is: see `compose-script.ts`. Never holds a secret. */
  readonly command: string;
  /** What the command reads. Made only when the command has started; destroyed with it. Without one, the command reads an empty input. */
  readonly stdin?: () => Readable;
  /** Milliseconds from the request to the exit status. */
  readonly deadline: number;
}

/** The last bytes of what a command wrote, cut at the front. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** How a command ended. Only `done` says that it did what it should. */
export type CommandOutcome =
  | ({ readonly kind: 'done' } & Output)
  /** It ran and said no: with an exit code, or killed by a signal. */
  | ({ readonly kind: 'command failed'; readonly code?: number; readonly signal?: string } & Output)
  /** It ran longer than its deadline. What it did until then, and may still do, is unknown. */
  | ({ readonly kind: 'timed out'; readonly after: number } & Output)
  /** The connection went while it ran, or had gone before. What it did is unknown. */
  | ({ readonly kind: 'connection lost'; readonly cause: string } & Output)
  /** What should have been its input could not be read on our side. The command was ended. */
  | ({ readonly kind: 'input failed'; readonly cause: string } & Output)
  /** The caller's signal. The command was ended; what it did until then is unknown. */
  | ({ readonly kind: 'aborted' } & Output);

/** One SSH connection to one host. Commands may run side by side; each has a channel of its own. */
export interface HostConnection {
  /** `SHA256:…` of the key that the host showed. */
  readonly hostKey: string;
  /** The one of the addresses that answered. */
  readonly address: HostAddress;
  /** Never throws. Not repeated by itself: a command that was cut may have had its effect. */
  run(command: RemoteCommand, signal?: AbortSignal): Promise<CommandOutcome>;
  /** Safe to call twice. Commands that still run end as `connection lost`. */
  close(): Promise<void>;
}

export interface HostAddress {
  readonly host: string;
  readonly port: number;
  /** The network it goes over: no step restarts the one that carries its own connection. */
  readonly transport: 'public' | 'tailnet';
}

/** How an attempt to reach a host ended. `hostKey` is there on every path on which the host showed one. */
export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly connection: HostConnection; readonly hostKey: string }
  /** No address got as far as showing a host key. The only outcome after which the next address is tried. */
  | { readonly kind: 'never connected'; readonly attempts: readonly { address: HostAddress; cause: string }[] }
  /** The host showed another key than the pinned one. Nothing was sent to it. */
  | {
      readonly kind: 'host key changed';
      readonly expected: string;
      readonly hostKey: string;
      readonly address: HostAddress;
    }
  | {
      readonly kind: 'authentication refused';
      readonly user: string;
      readonly hostKey: string;
      readonly address: HostAddress;
    }
  /** The host showed its key and then fell silent or hung up. */
  | {
      readonly kind: 'handshake failed';
      readonly cause: string;
      readonly hostKey: string;
      readonly address: HostAddress;
    };
