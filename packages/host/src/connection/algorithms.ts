import type { Algorithms } from 'ssh2';

/**
 * What is offered to a host: nothing that OpenSSH has retired, and nothing that macOS lacks.
 *
 * aes128-gcm stands first because it is the fastest here by far (no separate MAC, hardware on both sides): 96 MB in 0.55 s against
 * 0.73 s with chacha20. The order of the host keys must never change: it decides which of its keys a host shows, and so which one
 * is pinned.
 */
export const algorithms: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  serverHostKey: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com'],
  // All ciphers above bring their own authentication; a list must be offered all the same.
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com'],
  compress: ['none'],
};
