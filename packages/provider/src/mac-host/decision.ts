import type { Claim, Quarantine, Wipe } from './snapshot.ts';

/** What may be done about one Mac. */
export type Decision =
  /** Ask Scaleway for this very server, and decide again. */
  | { readonly kind: 'look' }
  /** Ask the API server for the machine of `spec.consumerRef`, and decide again. */
  | { readonly kind: 'find holder' }
  /** The server is gone and nobody counts on it: delete the MacHost. */
  | { readonly kind: 'forget' }
  /** Its name says that somebody else has it: end the claim or the release, and do nothing to the server. */
  | { readonly kind: 'let go'; readonly name: string }
  /** It bears its holder's name: remember since when, or that nobody has renamed it since. */
  | { readonly kind: 'note name'; readonly claim: Claim }
  | { readonly kind: 'rename'; readonly to: string; readonly why: 'held' | 'releasing' | 'wiped' }
  /** Remember the attempt, and why nobody shall claim the Mac afterwards; then ask for the reinstall. */
  | { readonly kind: 'request wipe'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Scaleway is seen reinstalling: remember it. */
  | { readonly kind: 'wipe begun' }
  /** It is seen ready after that: remember it, and retire the host key. */
  | { readonly kind: 'wipe done' }
  /** It cannot be wiped: say so. It is tried all the same, seldom. Without a quarantine of its own it has one already. */
  | { readonly kind: 'quarantine'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Wiped, and it bears the pool name: the release is over. */
  | { readonly kind: 'return to pool' }
  /** It is free, and a machine waits for another macOS: give it a release, so that it is wiped. */
  | { readonly kind: 'reinstall'; readonly family: string; readonly poolPrefix: string }
  /** Its agent may live on without a machine: keep Pods off these Nodes. */
  | { readonly kind: 'cordon'; readonly nodes: readonly string[] }
  /** Remember that it was asked for, then ask. */
  | { readonly kind: 'reboot' }
  /** Nothing but to say what is. Undefined: until something changes. */
  | { readonly kind: 'report'; readonly againMs: number | undefined };
