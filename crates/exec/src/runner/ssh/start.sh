echo '* Restarting OpenBSD Secure Shell server sshd'
pinnace_serve() {
  pinnace_id=$(id -u)
  if [ "$pinnace_id" = 0 ] && [ "$(cat /proc/self/setgroups 2>/dev/null)" = deny ]; then
    # Root in a user namespace alone cannot become anybody, which a server that believes to be root wants. So
    # it gets a further namespace, in which it is the user who it is outside.
    pinnace_id=$(awk '{ print $2; exit }' /proc/self/uid_map)
    set -- unshare --user --map-user="$pinnace_id" --map-group="$(awk '{ print $2; exit }' /proc/self/gid_map)" "$@"
  elif [ "$pinnace_id" = 0 ]; then
    mkdir -p /run/sshd 2>/dev/null
  fi
  if unshare --mount true 2>/dev/null; then
    # The server refuses accounts that are locked or have no shell; it sees none such.
    awk -F: -v id="$pinnace_id" '$3 == id { print $1 ":*:1::::::" }' /etc/passwd > "$pinnace_ssh/shadow"
    awk -F: -v OFS=: -v id="$pinnace_id" -v home="$HOME" \
      '$3 == id { $6 = home; if ($7 ~ /(nologin|false)$/) $7 = "/bin/sh" } { print }' \
      /etc/passwd > "$pinnace_ssh/passwd"
    set -- unshare --mount sh -c '
      folder=$0
      for name in passwd shadow; do
        [ ! -e "/etc/$name" ] || mount --bind "$folder/$name" "/etc/$name" || exit
      done
      exec "$@"' "$pinnace_ssh" "$@"
  fi
  "$@"
}
pinnace_serve "$pinnace_sshd" -f /dev/null -E "$pinnace_ssh/log" -h "$pinnace_ssh/host_key" \
  -p "$PAI_CONTAINER_SSH_PORT" -o PidFile=none -o StrictModes=no -o UsePAM=no -o PasswordAuthentication=no \
  -o PermitRootLogin=yes -o "AuthorizedKeysFile=$pinnace_ssh/authorized_keys" -o "SetEnv=\"PATH=$PATH\"" || {
  cat "$pinnace_ssh/log" 2>/dev/null
  echo '[ERROR] the SSH server did not start'
  exit 1
}
echo '...done.'
unset -f pinnace_serve
unset pinnace_sshd pinnace_id
