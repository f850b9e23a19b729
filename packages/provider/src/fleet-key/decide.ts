import type { RegisteredKey } from '@tartan/scaleway';

export interface Snapshot {
  /** Also the name of its key at Scaleway. */
  readonly fleet: string;
  readonly secret: SecretFacts;
  readonly registered: RegisteredKeys;
}

export type SecretFacts =
  | { readonly kind: 'absent' }
  /** It exists, but no key can be read from it. `why` is for users. */
  | { readonly kind: 'malformed'; readonly why: string }
  | {
      readonly kind: 'usable';
      readonly publicKey: string;
      /** From the annotation: it was registered once. Undefined for a Secret that a user created. */
      readonly keyID: string | undefined;
    };

export type RegisteredKeys =
  | {
      readonly kind: 'keys';
      readonly keys: readonly RegisteredKey[];
      /** IDs of keys that were registered after the list. */
      readonly unlisted: readonly string[];
    }
  | { readonly kind: 'unknown'; readonly why: string };

export type Decision =
  /** Create a key, and store it before it is used. */
  | { readonly kind: 'create' }
  | { readonly kind: 'unavailable'; readonly why: string }
  | { readonly kind: 'register'; readonly publicKey: string }
  /** Keys with the fleet's name that we registered: an earlier key of the fleet, or a duplicate of its key. */
  | { readonly kind: 'remove'; readonly ids: readonly string[] }
  | { readonly kind: 'annotate'; readonly keyID: string }
  /** `verified`: Scaleway has listed the key. Otherwise it was registered a moment ago, or the annotation says that it was. */
  | {
      readonly kind: 'ready';
      readonly verified: boolean;
      /** Keys at Scaleway with the fleet's name that nothing proves to be ours. */
      readonly foreignKeys: readonly string[];
    };

/**
 * The next step towards a key that is stored, and registered once.
 *
 *   | Secret    | at Scaleway                              | then                                    |
 *   |-----------|------------------------------------------|-----------------------------------------|
 *   | absent    |                                          | create                                  |
 *   | malformed |                                          | unavailable; it is never overwritten    |
 *   | usable    | could not be asked                       | ready if it was registered once         |
 *   | usable    | not there                                | register                                |
 *   | usable    | a duplicate, or the key annotated before | remove those (only after ours is there) |
 *   | usable    | any other of that name                   | not ours: left alone                    |
 *   | usable    | there, with another id than annotated    | annotate                                |
 *   | usable    | there                                    | ready                                   |
 */
export const decide = ({ fleet, secret, registered }: Snapshot): Decision => {
  switch (secret.kind) {
    case 'absent':
      return { kind: 'create' };
    case 'malformed':
      return { kind: 'unavailable', why: secret.why };
    case 'usable':
      break;
  }
  const { publicKey, keyID } = secret;
  if (registered.kind === 'unknown')
    return keyID === undefined
      ? { kind: 'unavailable', why: registered.why }
      : { kind: 'ready', verified: false, foreignKeys: [] };
  const isOurs = (key: RegisteredKey): boolean => keyMaterial(key.publicKey) === keyMaterial(publicKey);
  const named = registered.keys.filter(({ name }) => name === fleet);
  // The first one that Scaleway lists, which is the oldest: if two managers registered it, both keep the same one.
  const ours = named.find(isOurs) ?? registered.keys.find(isOurs);
  if (ours === undefined) return { kind: 'register', publicKey };
  // A name proves nothing: a user's own key, or that of another cluster, may have it. The annotated id is of a key that this Secret held.
  const others = named.filter((key) => key.id !== ours.id && (isOurs(key) || key.id === keyID));
  if (others.length > 0) return { kind: 'remove', ids: others.map(({ id }) => id) };
  if (keyID !== ours.id) return { kind: 'annotate', keyID: ours.id };
  const verified = !registered.unlisted.includes(ours.id);
  return { kind: 'ready', verified, foreignKeys: named.flatMap(({ id }) => (id === ours.id ? [] : id)) };
};

/** Type and bytes of a public key, which identify it whatever its comment and name (INC-331). */
export const keyMaterial = (publicKey: string): string => publicKey.trim().split(/\s+/).slice(0, 2).join(' ');
