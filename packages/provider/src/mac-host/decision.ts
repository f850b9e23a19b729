import type { Quarantine, Wipe } from './snapshot.ts';

/** What may be done about one Mac. */
export type Decision =
  /** Ask Scaleway for this very server, and decide again. */
  | { readonly kind: 'look' }
  /** Ask the API server for the machine of `spec.consumerRef`, and decide again. */
  | { readonly kind: 'find holder' }
  /** The server is gone and nobody counts on it: delete the MacHost. */
  | { readonly kind: 'forget' }
  | { readonly kind: 'rename'; readonly to: string; readonly why: 'held' | 'releasing' | 'wiped' }
  /** Remember the attempt, and why nobody shall claim the Mac afterwards; then ask for the reinstall. */
  | { readonly kind: 'request wipe'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Scaleway is seen reinstalling: remember it. */
  | { readonly kind: 'wipe begun' }
  /** It is seen ready after that: remember it, and retire the host key. */
  | { readonly kind: 'wipe done' }
  /** It cannot be wiped, time and again: say so. It is tried all the same. */
  | { readonly kind: 'quarantine'; readonly quarantine: Quarantine }
  /** Wiped, and it bears the pool name: the release is over. */
  | { readonly kind: 'return to pool' }
  /** Remember that it was asked for, then ask. */
  | { readonly kind: 'reboot' }
  /** Nothing but to say what is. Undefined: until something changes. */
  | { readonly kind: 'report'; readonly againMs: number | undefined };
