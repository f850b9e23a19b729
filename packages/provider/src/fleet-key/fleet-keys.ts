/** The SSH key of a fleet, as whoever connects to its Macs needs it. */
export type FleetKey =
  /** Stored, and registered at Scaleway. `privateKey` is in OpenSSH's form; never put it anywhere else. */
  | { readonly kind: 'ready'; readonly privateKey: string; readonly publicKey: string }
  /** Being made. Whoever waits is told by `subscribe`. */
  | { readonly kind: 'pending' }
  /** Could not be made or registered; `message` is for people. It is tried again. */
  | { readonly kind: 'unavailable'; readonly message: string };

export interface FleetKeys {
  of(fleet: string): FleetKey;
  /** Hears the name of each fleet whose key is another than it was, or has become ready or unavailable. */
  subscribe(listener: (fleet: string) => void): () => void;
}
