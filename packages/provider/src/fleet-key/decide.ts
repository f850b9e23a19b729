import type { RegisteredKey } from '@tartan/scaleway';

export interface Snapshot {
  /** Also the name of its key at Scaleway. */
  readonly fleet: string;
  readonly secret: SecretFacts;
  readonly registered: RegisteredKeys;
}

export type SecretFacts =
  | { readonly kind: 'absent' }
  /** There is one, and no key can be read from it. `why` is for people. */
  | { readonly kind: 'malformed'; readonly why: string }
  | {
      readonly kind: 'usable';
      readonly publicKey: string;
      /** As the annotation has it: it was registered once. Undefined for one that a person made. */
      readonly keyID: string | undefined;
    };

export type RegisteredKeys =
  | { readonly kind: 'keys'; readonly keys: readonly RegisteredKey[] }
  | { readonly kind: 'unknown'; readonly why: string };

export type Decision =
  /** A new key, stored before anybody hears of it. */
  | { readonly kind: 'create' }
  | { readonly kind: 'unavailable'; readonly why: string }
  | { readonly kind: 'register'; readonly publicKey: string }
  /** Keys of the fleet's name that we registered: an earlier key of the fleet, or its key once more. */
  | { readonly kind: 'remove'; readonly ids: readonly string[] }
  | { readonly kind: 'annotate'; readonly keyID: string }
  /** `verified`: Scaleway has just said that it has it. Otherwise it had it once. */
  | {
      readonly kind: 'ready';
      readonly verified: boolean;
      /** Keys at Scaleway that have the fleet's name, and that nothing proves to be ours. */
      readonly foreignKeys: readonly string[];
    };

/**
 * What is next on the way to a key that is stored, and registered once.
 *
 *   | Secret            | at Scaleway                        | then                                         |
 *   |-------------------|------------------------------------|----------------------------------------------|
 *   | absent            |                                    | make                                         |
 *   | malformed         |                                    | unavailable; it is never overwritten         |
 *   | usable            | could not be asked                 | ready if it was registered once              |
 *   | usable            | not there                          | register                                     |
 *   | usable            | it once more, or the key noted before | remove those (after ours is there, not before) |
 *   | usable            | any other of that name             | somebody else's: left alone                  |
 *   | usable            | there, under another id than noted | note                                         |
 *   | usable            | there                              | ready                                        |
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
  // The first one that Scaleway lists, which is the oldest: two managers that registered it both keep the same.
  const ours = named.find(isOurs) ?? registered.keys.find(isOurs);
  if (ours === undefined) return { kind: 'register', publicKey };
  // A name proves nothing: somebody's own key, or that of another cluster, may have it. The noted id is of a key that this Secret held.
  const others = named.filter((key) => key.id !== ours.id && (isOurs(key) || key.id === keyID));
  if (others.length > 0) return { kind: 'remove', ids: others.map(({ id }) => id) };
  if (keyID !== ours.id) return { kind: 'annotate', keyID: ours.id };
  return { kind: 'ready', verified: true, foreignKeys: named.flatMap(({ id }) => (id === ours.id ? [] : id)) };
};

/** Kind and bytes of a public key: what makes it the same key, whatever its comment and whatever it is called (INC-331). */
export const keyMaterial = (publicKey: string): string => publicKey.trim().split(/\s+/).slice(0, 2).join(' ');
