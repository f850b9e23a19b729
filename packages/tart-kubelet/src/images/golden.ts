import type { PullProgress, RegistryCredentials } from '@tartan/tart';
import type { PullPolicy } from './pull-policy.ts';
import type { PinnedImage } from './reference.ts';

type ImageProgress =
  | { readonly stage: 'pulling'; readonly progress: PullProgress }
  /** The disk was full; garbage is collected before it is tried once more. */
  | { readonly stage: 'freeing space' }
  | { readonly stage: 'cloning' };

export interface GoldenRequest {
  /** As the Pod has it. */
  readonly image: string;
  readonly policy?: PullPolicy | undefined;
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: ((progress: ImageProgress) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface Golden {
  /** Of the local virtual machine to clone from. It is never run itself. */
  readonly name: string;
  readonly image: PinnedImage;
  /** `warm`: it was here. `cloned`: from an image that was here. `pulled`: the registry was asked. */
  readonly from: 'warm' | 'cloned' | 'pulled';
  /** The collector leaves it alone until this is called. */
  release(): void;
}

/** What the agent writes down of what it makes, so that it, and nothing else, may be deleted one day (B5). */
export interface MadeRecords {
  /** Before it is made. Safe to repeat. */
  making(name: string, image: PinnedImage): Promise<void>;
  /** Once it is there: the marker in its folder. Safe to repeat, also for one that an earlier life of the agent had made. */
  made(name: string): Promise<void>;
  /** `making` was said of it, and `made` was not: an earlier life of the agent was cut. */
  isBeingMade(name: string): Promise<boolean>;
}
