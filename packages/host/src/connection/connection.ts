import type { Readable } from 'node:stream';

/** A command to run on a host. */
export interface RemoteCommand {
  /** A line for the user's login shell, whichever that is: see `compose-script.ts`. Never holds a secret. */
  readonly command: string;
  /** The command's standard input. Created when the command has started, and destroyed with it. Without one, the input is empty. */
  readonly stdin?: () => Readable;
  /** Milliseconds from the request to the exit status. */
  readonly deadline: number;
}

/** How a command ended. Only `done` is success. After all but the first two, its effect on the host is unknown. */
export type CommandEnd =
  | { readonly kind: 'done' }
  /** It exited with a code, or was killed by a signal. */
  | { readonly kind: 'command failed'; readonly code?: number; readonly signal?: string }
  /** It exceeded its deadline. It may still run. */
  | { readonly kind: 'timed out'; readonly after: number }
  /** The connection was lost while it ran, or before. */
  | { readonly kind: 'connection lost'; readonly cause: string }
  /** Its input could not be read locally. It was terminated. */
  | { readonly kind: 'input failed'; readonly cause: string }
  /** The caller's signal was aborted. It was terminated. */
  | { readonly kind: 'aborted' };

/** Output is limited to its last part. */
export type CommandOutcome = CommandEnd & { readonly stdout: string; readonly stderr: string };

/** One SSH connection to one host. Commands may run side by side; each has a channel of its own. */
export interface HostConnection {
  /** `SHA256:…` of the key that the host showed. */
  readonly hostKey: string;
  /** The address that answered. */
  readonly address: HostAddress;
  /** Never throws. Does not retry: an interrupted command may have had its effect. */
  run(command: RemoteCommand, signal?: AbortSignal): Promise<CommandOutcome>;
  /** Safe to call twice. Commands that still run end as `connection lost`. */
  close(): Promise<void>;
}

export interface HostAddress {
  readonly host: string;
  readonly port: number;
  /** The network of this address: a step does not restart the network that its own connection uses. */
  readonly transport: 'public' | 'tailnet';
}

/** A host that showed its key, and at which address. */
interface Answered {
  readonly hostKey: string;
  readonly address: HostAddress;
}

/** How an attempt to reach a host ended. */
export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly connection: HostConnection; readonly hostKey: string }
  /** No address got as far as showing a host key. The only outcome after which the next address is tried. */
  | { readonly kind: 'never connected'; readonly attempts: readonly { address: HostAddress; cause: string }[] }
  /** The host showed another key than the pinned one. Nothing was sent to it. */
  | ({ readonly kind: 'host key changed'; readonly expected: string } & Answered)
  | ({ readonly kind: 'authentication refused'; readonly user: string } & Answered)
  /** The host showed its key, and then sent nothing or closed the connection. */
  | ({ readonly kind: 'handshake failed'; readonly cause: string } & Answered);
