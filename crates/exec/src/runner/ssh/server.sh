pinnace_sshd=$(command -v sshd || { [ -x /usr/sbin/sshd ] && echo /usr/sbin/sshd; } || true)
if [ -z "$pinnace_sshd" ]; then
  echo '[ERROR] the job asks for SSH, and no SSH server is installed: install the package `openssh-server`'
  exit 1
fi
# The lines of OpenPAI, whose packages come from a cache and whose server is a service.
echo '[package_cache] Skip installation of group ssh.'
echo '[INFO] start ssh service'
pinnace_ssh=$PINNACE_TASK_DIR/ssh
mkdir -p "$pinnace_ssh/bin" "$HOME/.ssh"
chmod 700 "$pinnace_ssh" "$HOME/.ssh"
[ -e "$pinnace_ssh/host_key" ] || ssh-keygen -q -t ed25519 -N '' -f "$pinnace_ssh/host_key"
: > "$pinnace_ssh/authorized_keys"
chmod 600 "$pinnace_ssh/authorized_keys"
