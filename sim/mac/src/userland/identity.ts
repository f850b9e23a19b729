/** Who the user of this Mac is: one file beside its disk. */
const readUser = `read -r user_id user_name <"$TARTAN_ROOT/../.mac/user"`;

/** id(1), of the effective user: root is whoever came through sudo, or was started by launchd as root. */
export const idTool = `#!/bin/sh
${readUser}
if [ "\${TARTAN_SIM_UID:-}" = 0 ]; then
  uid=0 name=root gid=0 group=wheel
else
  uid=$user_id name=$user_name gid=20 group=staff
fi
options=
while :; do
  case \${1:-} in
    -*) options=$options\${1#-} && shift ;;
    *) break ;;
  esac
done
case \${1:-} in
  '') ;;
  root | 0) uid=0 name=root gid=0 group=wheel ;;
  "$user_name" | "$user_id") uid=$user_id name=$user_name gid=20 group=staff ;;
  *)
    printf 'id: %s: no such user\\n' "$1" >&2
    exit 1
    ;;
esac
case $options in
  u | ur) echo "$uid" ;;
  un | nu) echo "$name" ;;
  g | gr) echo "$gid" ;;
  gn | ng) echo "$group" ;;
  G) if [ "$uid" = 0 ]; then echo '0 1 2 3 4 5 8 9 12 20 29 61 80'; else echo '20 12 61 80 98'; fi ;;
  Gn | nG) if [ "$uid" = 0 ]; then echo 'wheel daemon kmem sys tty operator procview procmod everyone staff certusers localaccounts admin'; else echo 'staff everyone localaccounts admin _lpadmin'; fi ;;
  '') echo "uid=$uid($name) gid=$gid($group) groups=$gid($group),80(admin)" ;;
  *)
    echo 'usage: id [user]' >&2
    exit 1
    ;;
esac
`;

export const whoamiTool = `#!/bin/sh
${readUser}
if [ "\${TARTAN_SIM_UID:-}" = 0 ]; then echo root; else echo "$user_name"; fi
`;
