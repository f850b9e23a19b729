/** From when and until when a certificate is good: milliseconds since 1970. */
export interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}
