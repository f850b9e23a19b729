import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';

/** Both files that sshd reads: the user's own, and the one that Scaleway fills at first boot. */
const files = ['.ssh/authorized_keys', '.ssh/scw_authorized_keys'];

const lines = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
};

/** Whether a signature was made with a key that may log in. Without one, whether it would be asked for. */
export const isAuthorized = (
  home: string,
  key: { readonly algo: string; readonly data: Buffer },
  signed?: { readonly blob: Buffer; readonly signature: Buffer; readonly hashAlgo: string | undefined },
): boolean =>
  files
    .flatMap((file) => lines(join(home, file)))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .some((line) => {
      const parsed = ssh2.utils.parseKey(line);
      if (parsed instanceof Error || !parsed.getPublicSSH().equals(key.data)) return false;
      if (signed === undefined) return true;
      // Other than its type says, it may be an Error, which is true enough.
      const verified: unknown = parsed.verify(signed.blob, signed.signature, signed.hashAlgo);
      return verified === true;
    });
