import type { PodWaitReason } from '@tartan/api';
import type { ProcessIdentity, TartReason } from '@tartan/tart';
import type { Ending } from '../journal/record.ts';

/** What the Pod waits for, as its container's waiting reason says it. */
type Waiting = { readonly reason: PodWaitReason; readonly message: string };

/** The one next thing to do for a Pod. Each is safe to repeat, and each is written to the journal first where it says so. */
export type Decision =
  /** Nothing to do until something changes, or until then. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait'; readonly for: Waiting; readonly until?: number | undefined }
  /** Not for Macs: it stays Pending with the reason. */
  | { readonly kind: 'leave'; readonly message: string }
  /** Fails it for good. Nothing of it is on. */
  | { readonly kind: 'reject'; readonly reason: 'UnsupportedPod' | 'DeadlineExceeded'; readonly message: string }
  /** Asks for it, and waits for no answer. */
  | { readonly kind: 'add finalizer' }
  /** The answer: nothing starts before it. */
  | { readonly kind: 'await finalizer' }
  | { readonly kind: 'pull' }
  /** Journal `cloning`, then the clone under a name that is free. */
  | { readonly kind: 'clone'; readonly digest: string | undefined }
  /** The mark, a new identity and the size; then journal `configured`. */
  | { readonly kind: 'configure' }
  /** Journal `starting`, then the console session, env and token, `tart run`, journal `running`. */
  | { readonly kind: 'boot' }
  /** A process that runs already is ours: journal `running` with it (INC-30). */
  | { readonly kind: 'adopt'; readonly process: ProcessIdentity }
  | { readonly kind: 'wait for address' }
  /** It runs. `address` is to be remembered if the journal has another. */
  | { readonly kind: 'running'; readonly address: string }
  /** Journal the moment, then ask the guest to shut down. */
  | { readonly kind: 'stop gracefully'; readonly graceMs: number }
  | { readonly kind: 'wait for shutdown'; readonly until: number }
  | { readonly kind: 'stop hard' }
  /** tart refused to start it, and the guest was never on: remove the run's log, then journal `configured`. Not an end. */
  | { readonly kind: 'take back start'; readonly reason: TartReason; readonly message: string }
  /** Journal `ended`: before anything of the run is thrown away. */
  | { readonly kind: 'end'; readonly ending: Ending; readonly image: string }
  /** Journal the next run: `cloning`, with no stop asked for. */
  | { readonly kind: 'restart'; readonly run: number; readonly previous: Ending }
  /** Its disk, and env and tokens that lie beside it. Never of one that is on. */
  | { readonly kind: 'delete VM' }
  /** The final phase, and how it ended. */
  | { readonly kind: 'finish status'; readonly ending: Ending }
  | { readonly kind: 'remove finalizer' }
  /** With no grace, as a kubelet confirms that everything is gone (INC-14). */
  | { readonly kind: 'delete Pod' }
  /** Logs and, last, the journal's record. */
  | { readonly kind: 'forget' };
