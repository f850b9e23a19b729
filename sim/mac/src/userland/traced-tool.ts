import { callFunctions, quote } from './stub.ts';

/** Tells the journal by which arguments it was called, then is the tool of the same name in `untraced`. */
export const tracedTool = (real: string, untraced: string): string => `#!/bin/sh
${callFunctions(real)}
call trace.argv "\${0##*/}" "$@"
exec 3<&-
exec ${quote(untraced)}/"\${0##*/}" "$@"
`;
