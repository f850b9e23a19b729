import { TartError } from './tart-error.ts';

/** A name reaches tart as an argument: it must not read as an option or as a path. */
export const checkVmName = (command: string, name: string): void => {
  if (!/^[A-Za-z0-9_.][A-Za-z0-9_.:@-]*$/.test(name) || name === '.' || name === '..')
    throw new TartError(
      'invalid',
      `${JSON.stringify(name)} is no name for a virtual machine: use letters, digits, dots, dashes and underscores`,
      { command },
    );
};

/** `host/namespace:tag` or `host/namespace@sha256:…`. */
export const checkReference = (command: string, reference: string): void => {
  if (!/^[A-Za-z0-9][\w.:-]*(\/[\w.-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/.test(reference))
    throw new TartError(
      'invalid',
      `${JSON.stringify(reference)} is no image: write host/name:tag or host/name@sha256:digest`,
      { command },
    );
};

export const isReference = (name: string): boolean => name.includes('/');
