import { callFunctions } from './stub.ts';

/**
 * sudo runs its command in its own place, with the caller's standard input, so its answers are shell: run this, ask for a password,
 * or an error. A password is read byte by byte up to its newline; the rest of the input is the command's.
 */
export const sudoStub = (real: string): string => `#!/bin/sh
${callFunctions(real)}
call sudo "$@"
while :; do
  printf %s "$prompt" >&2
  if IFS= read -r password; then complete=yes; else complete=no; fi
  call sudo.password "$attempt" "$complete" "$password" "$@"
done
`;
