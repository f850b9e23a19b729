import type { Server } from '@tartan/scaleway';

/** What the last list of a zone says of one server. */
export type Sighting =
  | { readonly kind: 'seen'; readonly server: Server; readonly at: number }
  /** Its zone was listed, without it. Whoever acts on this asks Scaleway for the server itself first. */
  | { readonly kind: 'missing'; readonly at: number }
  /** Its zone was not listed since this process leads, or not lately. `why` is for people; empty while the first list is awaited. */
  | { readonly kind: 'unknown'; readonly why: string };

/** The lists of all zones, as this process has them. Memory only: whoever starts anew knows nothing until the first list. */
export interface Sightings {
  of(zone: string, id: string): Sighting;
  /** A whole zone was listed: replaces what was known of it. */
  listed(zone: string, servers: readonly Server[], at: number): void;
  /** A zone could not be listed. What was seen before stays, until it is too old to be trusted. */
  failed(zone: string, why: string, at: number): void;
  /** One server was asked for and this is what it is now; `undefined`: Scaleway does not know it. */
  looked(zone: string, id: string, server: Server | undefined, at: number): void;
  forgetAll(): void;
  /** Hears the id of each server of which something is different now, those that have gone among them. */
  subscribe(listener: (id: string) => void): () => void;
}
