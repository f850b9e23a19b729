import { decodeKcpassword, sealed } from './kcpassword.ts';

/** What loginwindow finds when it starts. */
export interface AtLoginwindow {
  /** The one that comes up with a headless mini ignores auto-login; one that was started again honours it (INC-202). */
  readonly started: 'at boot' | 'again';
  /** Of the loginwindow preferences. */
  readonly autoLoginUser: string | undefined;
  /** The file as it is. */
  readonly kcpassword: Buffer | undefined;
  readonly user: { readonly name: string; readonly password: string };
  readonly noGuiSession: boolean;
}

export type Login =
  | 'Aqua'
  /** Nobody is logged in, and nothing is changed. */
  | 'login screen'
  /** The password was refused: the file is overwritten with the mark `<sealed>` (INC-07). */
  | 'seal';

/** Who is logged in by a loginwindow that starts. */
export const decideLogin = ({ started, autoLoginUser, kcpassword, user, noGuiSession }: AtLoginwindow): Login => {
  if (started === 'at boot' || noGuiSession) return 'login screen';
  if (autoLoginUser !== user.name || kcpassword === undefined) return 'login screen';
  if (kcpassword.equals(sealed)) return 'login screen';
  return decodeKcpassword(kcpassword).equals(Buffer.from(user.password)) ? 'Aqua' : 'seal';
};
