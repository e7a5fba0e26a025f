if [ ! -r "$PINNACE_SHARED_DIR/ssh/id_ed25519" ]; then
  echo '[ERROR] the keys between tasks are missing: install the package `openssh-client`'
  exit 1
fi
cp "$PINNACE_SHARED_DIR/ssh/id_ed25519" "$pinnace_ssh/id_ed25519"
chmod 600 "$pinnace_ssh/id_ed25519"
cat "$PINNACE_SHARED_DIR/ssh/id_ed25519.pub" >> "$pinnace_ssh/authorized_keys"
cat "$PINNACE_SHARED_DIR/ssh/config" > "$HOME/.ssh/config"
printf 'Host *\n  IdentityFile "%s"\n' "$pinnace_ssh/id_ed25519" >> "$HOME/.ssh/config"
chmod 600 "$HOME/.ssh/config"
# A client looks for its configuration in the home of the user's account and not in `HOME`.
for pinnace_word in ssh scp sftp; do
  pinnace_path=$(command -v "$pinnace_word") || continue
  printf '#!/bin/sh\nexec "%s" -F "%s" "$@"\n' "$pinnace_path" "$HOME/.ssh/config" > "$pinnace_ssh/bin/$pinnace_word"
  chmod 755 "$pinnace_ssh/bin/$pinnace_word"
done
export PATH="$pinnace_ssh/bin:$PATH"
unset pinnace_word pinnace_path
