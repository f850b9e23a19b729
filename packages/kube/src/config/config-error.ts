/** A place in a configuration, so that whoever reads an error finds it. `field` is empty for the file as a whole. */
export interface Place {
  file: string;
  /** `users[2].user.tokenFile`. */
  field: string;
}

/** The configuration cannot be used as it is. The text names file and field and says what to do; it never holds a secret. */
export class ConfigError extends Error {
  readonly file: string | undefined;
  readonly field: string | undefined;
  constructor(place: Place | undefined, text: string) {
    super([place?.file, place?.field, text].filter(Boolean).join(': '));
    this.name = 'ConfigError';
    this.file = place?.file;
    this.field = place?.field || undefined;
  }
}
