import { annotations, type MacHost } from '@tartan/api';

/** Why a person has told us to leave the Mac alone. Undefined: nobody has. Any value of the annotation counts, also an empty one. */
export const abandonedBecause = ({ metadata }: Pick<MacHost, 'metadata'>): string | undefined => {
  const reason = metadata?.annotations?.[annotations.abandon];
  return reason === undefined ? undefined : reason.trim() || 'no reason was given';
};
