/** What Scaleway writes instead of a password while macOS keeps the auto-login credential sealed (I-04, I-07). */
const sealed = '<sealed>';

/**
 * The password of a Mac's user. `sudo_password` holds it for a short while after an order; later only the VNC address does. Empty
 * and sealed ones are no passwords: typed as one they lock the account.
 */
export const passwordIn = (sudoPassword: string, vncURL: string): string | undefined =>
  usable(sudoPassword) ?? usable(passwordOfVNC(vncURL));

const usable = (password: string | undefined): string | undefined =>
  password === undefined || password.trim() === '' || password.trim() === sealed ? undefined : password;

/** The host is what follows the last `@`: passwords with `@`, `/` or `#` come unescaped at times, and `URL` then cuts them. */
const passwordOfVNC = (url: string): string | undefined => {
  const password = /^vnc:\/\/[^:@/]*:(.*)@[^@]*$/s.exec(url.trim())?.[1];
  return password === undefined ? undefined : percentDecoded(password);
};

/** A stray `%` means that nobody encoded it. */
const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
